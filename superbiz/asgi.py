"""The ASGI application that Daphne serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "superbiz.settings")

application = get_asgi_application()

from chat.runtime import close, drain  # noqa: E402 - Django must be set up first
from superbiz.shutdown import install  # noqa: E402

install(drain, close)
