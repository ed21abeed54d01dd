"""The example site with a tool for every type."""

from __future__ import annotations

from tests.live.settings import *  # noqa: F403
from tests.live.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.live.typed"]
