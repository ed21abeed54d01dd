from __future__ import annotations

from tests.settings import *  # noqa: F403

INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django_mcp", "tests.broken"]
ROOT_URLCONF = "tests.broken.urls"
DJANGO_MCP = {
    "CACHE_TTL": 5,
    "MAX_BODY_BYTES": "4 MB",
    "LEGACY_VERSIONS": ["2024-11-05"],
    "INCLUDE": ["order_*"],
}
