from __future__ import annotations

import tempfile
from pathlib import Path

from tests.settings import *  # noqa: F403

# A file, so that threads have connections of their own, which wait for each other.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": Path(tempfile.mkdtemp(prefix="django_mcp_soak_")) / "db.sqlite3",
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 60},
    }
}
