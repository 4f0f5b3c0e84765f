"""Fixtures of the audit's tests."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

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
