from __future__ import annotations

from django.urls import include, path

from django_mcp.views import MCPView
from tests.urls import urlpatterns as default

urlpatterns = [
    *default,
    path("staff", include("django_mcp.urls", namespace="staff"), {"server": "staff"}),
    path("view", MCPView.as_view(server="staff")),
]
