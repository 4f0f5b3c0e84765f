"""The ASGI application that Daphne serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "superbiz.settings")

application = get_asgi_application()

from django.conf import settings  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402

from chat.runtime import close, drain  # noqa: E402 - Django must be set up first
from superbiz.shutdown import install  # noqa: E402

if settings.SECRET_KEY == settings.NO_SECRET_KEY:
    raise ImproperlyConfigured("SECRET_KEY is not set. Give 50 random characters in the environment.")

install(drain, close)
