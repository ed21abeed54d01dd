"""The example site with an app that prints where it should not."""

from __future__ import annotations

from tests.live.settings import *  # noqa: F403
from tests.live.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.live.stdio"]
