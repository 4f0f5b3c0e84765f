"""The services of one test session, named before Django reads its settings and started when first needed."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from superbiz.demo.services import Services

_services: Services | None = None


def environment(services: Services) -> dict[str, str]:
    """What a process needs to use these services."""
    endpoints = services.endpoints
    return {
        "DATABASE_URL": endpoints.database_url,
        "REDIS_URL": endpoints.redis_url,
        "HARNESS_REDIS_URL": endpoints.harness_redis_url,
        "CELERY_BROKER_URL": endpoints.redis_url,
        "SECRET_KEY": "a-key-of-the-tests-that-protects-nothing",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def prepare() -> None:
    """Choose the folder and the ports, and say them in the environment. Called before the settings are read."""
    global _services
    for name in [name for name in os.environ if name.startswith("SUPERBIZ_") or name.lower().endswith("_proxy")]:
        del os.environ[name]
    _services = Services(Path(tempfile.mkdtemp(prefix="superbiz-test-")))
    atexit.register(_remove, _services)
    os.environ.update(environment(_services))


def _remove(services: Services) -> None:
    services.stop()
    shutil.rmtree(services.directory, ignore_errors=True)


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    """PostgreSQL, Valkey and MariaDB, up for the rest of the session."""
    assert _services is not None
    _services.start()
    yield _services
    _services.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(services: Services) -> None:
    """pytest-django's database is on our PostgreSQL, so that must be up first."""


@pytest.fixture
def redis_admin_url(services: Services) -> str:
    """A user who reads every key."""
    return services.endpoints.redis_url


@pytest.fixture
def harness_redis_url(services: Services) -> str:
    """The harness's user: its own keys only."""
    return services.endpoints.harness_redis_url


@pytest.fixture
def mariadb_socket(services: Services) -> Path:
    """For `root`, without a password."""
    return services.endpoints.mariadb_socket
