from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BackgroundConfig(AppConfig):
    name = "django_mcp.background"
    label = "django_mcp_background"
    verbose_name = _("MCP background tasks")
    default_auto_field = "django.db.models.BigAutoField"
