"""The whole product, served: real services, the played model, accounts, sample data.

The server writes a database of its own, which nothing flushes; what is made here stays for the session.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.authtoken.models import Token

from superbiz.demo.load import RUNBOOKS
from superbiz.demo.services import Services
from superbiz.demo.shop import load_shop, settings_file
from tests.cast import Cast, make_cast
from tests.e2e.client import ChatClient
from tests.e2e.server import Server, serve
from tests.provider.server import Provider

DATABASE = "superbiz"  # the one that the services come with
PASSWORD = secrets.token_urlsafe(12)
Serve = Callable[..., AbstractContextManager[Server]]


@contextmanager
def _connected_to(name: str, blocker: DjangoDbBlocker) -> Iterator[None]:
    """Django's connection of this process, on the server's database instead of pytest-django's."""
    before = connections["default"].settings_dict["NAME"]
    connect_to(name)
    try:
        with blocker.unblock():
            yield
    finally:
        connect_to(before)


def connect_to(name: str) -> None:
    """Begin anew, with the database of this name."""
    wrapper = connections["default"]
    assert isinstance(wrapper, DatabaseWrapper)
    wrapper.close()
    wrapper.close_pool()
    wrapper.settings_dict["NAME"] = name


@pytest.fixture(scope="session")
def accounts(services: Services, django_db_blocker: DjangoDbBlocker) -> Cast:
    """Everybody, able to log in with `PASSWORD`, in a database with all its tables."""
    with _connected_to(DATABASE, django_db_blocker):
        call_command("migrate", verbosity=0)
        return make_cast(PASSWORD)


@pytest.fixture(scope="session")
def documents(accounts: Cast, django_db_blocker: DjangoDbBlocker) -> None:
    """The demo's runbooks, ingested."""
    with _connected_to(DATABASE, django_db_blocker):
        call_command("ingest", *(str(path) for path in sorted(RUNBOOKS.glob("*.md"))), verbosity=0)


@pytest.fixture(autouse=True)
def database(accounts: Cast, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The server's database, for looking into."""
    with _connected_to(DATABASE, django_db_blocker):
        yield


@pytest.fixture(scope="session")
def environment(
    services: Services,
    provider_server: Provider,
    documents: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    """What a served process needs on top of the session's own variables."""
    endpoints = services.endpoints
    config = tmp_path_factory.mktemp("config") / "superbiz.toml"
    config.write_text(settings_file())
    now = datetime.now(UTC).replace(tzinfo=None)
    return {
        "DJANGO_SETTINGS_MODULE": "superbiz.settings",
        "ORDER_MYSQL_URL": load_shop(endpoints.mariadb_socket, endpoints.mariadb_port, now),
        "SUPERBIZ_CONFIG": str(config),
        "SUPERBIZ_MODEL": "openai/test",
        "SUPERBIZ_MODEL_API_BASE": provider_server.url,
        "SUPERBIZ_MODEL_API_KEY": "PLANTED-API-KEY",
        "SUPERBIZ_REASONING_KEYS": Fernet.generate_key().decode(),
        "LOG_LEVEL": "DEBUG",
    }


@pytest.fixture(scope="session")
def serve_with(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Serve:
    """`with serve_with(SUPERBIZ_HARNESS__LIMITS__RUNS_PER_USER="1") as server`: a process of one's own."""

    def start(**variables: str) -> AbstractContextManager[Server]:
        log = tmp_path_factory.mktemp("server") / "log"
        return serve(log, {**environment, **variables})

    return start


@pytest.fixture(scope="session")
def server(serve_with: Serve) -> Iterator[Server]:
    """The process that most tests share. Its limits are wide, so that no test is in another's way."""
    with serve_with(SUPERBIZ_HARNESS__LIMITS__RUNS_PER_USER="50") as server:
        yield server


@pytest.fixture
def client_of(accounts: Cast) -> Iterator[Callable[..., ChatClient]]:
    """`client_of("owner", server)`: a client with that person's token."""
    made: list[ChatClient] = []

    def make(role: str, server: Server, language: str = "en") -> ChatClient:
        made.append(ChatClient(server, Token.objects.get(user=accounts[role]).key, language))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def owner(client_of: Callable[..., ChatClient], server: Server) -> ChatClient:
    return client_of("owner", server)
