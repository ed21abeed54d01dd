from __future__ import annotations

from django.urls import include, path

from django_mcp.views import AsyncMCPView, MCPView

urlpatterns = [
    path("mcp", include("django_mcp.urls", namespace="sync"), {"server": "staff"}),
    path("amcp", include("django_mcp.aurls", namespace="async"), {"server": "staff"}),
    path("view/mcp", MCPView.as_view(server="staff")),
    path("view/amcp", AsyncMCPView.as_view(server="staff")),
    path("unknown/mcp", MCPView.as_view(server="unknown")),
    path("unknown/amcp", AsyncMCPView.as_view(server="unknown")),
]
