from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("mcp", include("django_mcp.urls")),
    path("amcp", include("django_mcp.aurls", namespace="amcp")),
]
