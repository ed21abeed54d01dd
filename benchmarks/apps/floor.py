"""A bare Django site that gives the answers kept in the file that `ANSWERS` names, by scenario."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from benchmarks.apps.site import configure

configure("benchmarks.apps.floor")

from django.core.asgi import get_asgi_application  # noqa: E402 (after the app registry)
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402

from benchmarks.floor import views  # noqa: E402

urlpatterns: list[Any] = []
for name, result in json.loads(Path(os.environ["ANSWERS"]).read_text()).items():
    view, aview = views(result)
    urlpatterns += [path(name, view), path(f"async/{name}", aview)]

wsgi = get_wsgi_application()
asgi = get_asgi_application()
