"""Fixtures for all tests: real services, and no model but the one that a test plays."""

from hypothesis import settings

from tests.provider.fixtures import provider, provider_server
from tests.services import django_db_modify_db_settings, harness_redis_url, mariadb_socket, redis_admin_url, services

__all__ = [
    "django_db_modify_db_settings",
    "harness_redis_url",
    "mariadb_socket",
    "provider",
    "provider_server",
    "redis_admin_url",
    "services",
]

# The same examples in each run, so that a change decides and not luck; `--hypothesis-profile=search` looks for others.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("suite")
