"""Fixtures of the audit's tests."""

from collections.abc import AsyncIterator, Iterator

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper
from django.test import AsyncClient

from tests.cast import Cast, make_cast


@pytest.fixture
def cast(db: None) -> Cast:
    return make_cast()


@pytest.fixture(scope="session", autouse=True)
def no_connection_is_left(django_db_setup: None) -> Iterator[None]:
    """The pool outlives the threads that used it, and PostgreSQL drops no database that somebody is connected to."""
    yield
    wrapper = connections["default"]
    assert isinstance(wrapper, DatabaseWrapper)
    wrapper.close_pool()


@pytest.fixture
async def async_client(transactional_db: None) -> AsyncIterator[AsyncClient]:
    """Django's, without the connection that its requests leave on asgiref's thread."""
    yield AsyncClient()
    await sync_to_async(lambda: connection.close())()
