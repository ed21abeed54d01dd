"""The example site behind the middleware of a new Django project and compression, with tools that stream."""

from __future__ import annotations

from tests.live.settings import *  # noqa: F403
from tests.live.settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS = [*INSTALLED_APPS, "tests.live.streams"]
MIDDLEWARE = [
    "django.middleware.gzip.GZipMiddleware",
    *MIDDLEWARE,
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "tests.live.streams.middleware.InTransaction",
]
DJANGO_MCP = {"STREAM_KEEPALIVE_S": 0.2}
