from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TokensConfig(AppConfig):
    name = "django_mcp.tokens"
    label = "django_mcp_tokens"
    verbose_name = _("MCP bearer tokens")
    default_auto_field = "django.db.models.BigAutoField"
