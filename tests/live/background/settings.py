from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS as EXAMPLE_APPS

INSTALLED_APPS = [*EXAMPLE_APPS, "tests.live.background"]
ROOT_URLCONF = "tests.urls"
DJANGO_MCP = {
    "INCLUDE": ["work", "background__*"],
    "TASKS": {"RETENTION_S": None},
    "CONFIRM_DESTRUCTIVE": True,
}
