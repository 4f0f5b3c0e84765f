from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from chat import runtime as runtime_module
from chat.runtime import Runtime
from superbiz.demo.services import Services
from tests.cast import Cast, make_cast


@pytest.fixture
def people(db: None) -> Cast:
    """For tests that stay on one thread."""
    return make_cast()


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """Committed, because the chat reads on threads of its own."""
    return make_cast()


@pytest.fixture
async def runtime(services: Services) -> AsyncIterator[Runtime]:
    """The process-wide objects of this test's loop."""
    yield runtime_module.get_runtime()
    await runtime_module.close()
    await sync_to_async(connections.close_all)()
