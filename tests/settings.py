from __future__ import annotations

from typing import Any

SECRET_KEY = "tests"
USE_TZ = True
TIME_ZONE = "UTC"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
ROOT_URLCONF = "tests.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django_mcp",
    "django_mcp.background",
    "django_mcp.tokens",
    "django_tasks_db",
    "example_project.tracker",
]

# Two aliases, because what happens to a write has to be true of every database.
DATABASES: dict[str, dict[str, Any]] = {
    "default": {"ENGINE": "tests.sqlite", "NAME": ":memory:"},
    "other": {"ENGINE": "tests.sqlite", "NAME": ":memory:"},
}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

# For the pages of the admin alone; the tests of those install its middleware, too.
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "/static/"

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
