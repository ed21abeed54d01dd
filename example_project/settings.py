from __future__ import annotations

from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parent

env = environ.Env()

SECRET_KEY = env.str("SECRET_KEY", default="for-trying-it-out-only")
DEBUG = env.bool("DEBUG", default=True)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# SQLite takes the write lock when a transaction begins, so that two calls at once wait instead of failing.
SQLITE = f"sqlite:///{BASE_DIR / 'db.sqlite3'}?transaction_mode=IMMEDIATE"
DATABASES = {"default": env.db_url("DATABASE_URL", default=SQLITE)}
# A call that fails leaves nothing behind in the database.
DATABASES["default"]["ATOMIC_REQUESTS"] = True

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_mcp",
    "django_mcp.background",
    "django_tasks_db",
    "example_project.tracker",
]

# Background work waits in the database for a worker: `manage.py db_worker`.
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

ROOT_URLCONF = "example_project.urls"
WSGI_APPLICATION = "example_project.wsgi.application"
ASGI_APPLICATION = "example_project.asgi.application"
STATIC_URL = "static/"
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

DJANGO_MCP = {
    "NAME": "task-tracker",
    "VERSION": "1.0",
    "CONFIRM_DESTRUCTIVE": True,
    "INSTRUCTIONS": "Projects and their tasks. Call help {} first to see what the tools can do.",
}
