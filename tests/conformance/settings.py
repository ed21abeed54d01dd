from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS as EXAMPLE_APPS

INSTALLED_APPS = [*EXAMPLE_APPS, "tests.conformance"]
ROOT_URLCONF = "tests.urls"
#: The suite wants a schema that uses everything, whatever clients make of it.
SILENCED_SYSTEM_CHECKS = ["django_mcp.W012", "django_mcp.W014"]
DJANGO_MCP = {
    "NAME": "conformance",
    "EXCLUDE": ["tasks"],
    "TASKS": {"RUNNER": "django_mcp.background.runner.InProcessRunner"},
}
