"""`path("mcp", include("django_mcp.urls"))`: `/mcp` and `/mcp/` answer alike, nothing redirects."""

from __future__ import annotations

from django.urls import re_path

from django_mcp.transports.http.view import not_found
from django_mcp.views import MCPView

app_name = "django_mcp"
urlpatterns = [
    re_path(r"^(?:/)?$", MCPView.as_view(), name="endpoint"),
    re_path(r"^/", not_found),
]
