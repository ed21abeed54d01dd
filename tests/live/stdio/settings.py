"""The example site with an app that prints where it should not, and does background work in its own process."""

from __future__ import annotations

from tests.live.settings import *  # noqa: F403
from tests.live.settings import DJANGO_MCP, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.live.stdio"]
DJANGO_MCP = {**DJANGO_MCP, "TASKS": {"RUNNER": "django_mcp.background.runner.InProcessRunner"}}
