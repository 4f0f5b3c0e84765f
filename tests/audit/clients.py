"""Clients of the audit's pages and endpoints."""

from django.test import Client

from tests.cast import Cast


def client_of(cast: Cast, role: str) -> Client:
    """A client that is logged in as that person; `anonymous` is nobody."""
    client = Client()
    if role != "anonymous":
        client.force_login(cast[role])
    return client
