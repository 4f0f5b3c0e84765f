"""Fixtures of the audit's tests."""

from tests.audit.cast import cast

__all__ = ["cast"]
