"""The played model as a fixture: one server for the session, a clean script for each test."""

from collections.abc import Iterator

import pytest

from tests.provider.server import Provider


@pytest.fixture(scope="session")
def provider_server() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def provider(provider_server: Provider) -> Provider:
    provider_server.reset()
    return provider_server
