"""django-stateless-mcp around the official SDK."""

from __future__ import annotations

import os

from benchmarks.apps.site import configure

configure("benchmarks.apps.stateless")

from django.core.asgi import get_asgi_application  # noqa: E402 (after the app registry)
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402
from django_stateless_mcp import mcp_view, request_state_security  # noqa: E402
from mcp.server.mcpserver import MCPServer  # noqa: E402

from benchmarks.apps.functions import register  # noqa: E402

server = MCPServer(
    name="bench", version="1", log_level="WARNING", request_state_security=request_state_security()
)
register(server.tool)
urlpatterns = [path(os.environ["SHAPE"], mcp_view(server))]

wsgi = get_wsgi_application()
asgi = get_asgi_application()
