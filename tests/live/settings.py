"""The example site with both views mounted, as the live tests run it."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403

ROOT_URLCONF = "tests.urls"
