"""Fixtures for all tests: real services, and no model but the one that a test plays."""

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
