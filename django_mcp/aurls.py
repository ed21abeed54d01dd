"""`path("mcp", include("django_mcp.aurls"))`: the endpoint of `django_mcp.urls`, asynchronous."""

from __future__ import annotations

from django.urls import re_path

from django_mcp.transports.http.view import not_found
from django_mcp.views import AsyncMCPView

app_name = "django_mcp"
urlpatterns = [
    re_path(r"^(?:/)?$", AsyncMCPView.as_view(), name="endpoint"),
    re_path(r"^/", not_found),
]
