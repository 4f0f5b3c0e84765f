"""The product's settings on the services of this test session."""

from tests.services import prepare

prepare()

from superbiz.settings import *  # noqa: E402, F403
