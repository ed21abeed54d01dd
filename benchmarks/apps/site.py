"""Settings of every Django target: no middleware, one database that nothing asks, no authentication."""

from __future__ import annotations

from typing import Any

import django
from django.conf import settings


def configure(urlconf: str, *apps: str, **more: Any) -> None:
    settings.configure(
        DEBUG=False,
        SECRET_KEY="a-key-of-the-benchmark-and-of-nothing-else",
        ALLOWED_HOSTS=["127.0.0.1", "testserver"],
        ROOT_URLCONF=urlconf,
        MIDDLEWARE=[],
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", *apps],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        LOGGING_CONFIG=None,
        **more,
    )
    django.setup()
