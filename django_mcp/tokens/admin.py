from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from django_mcp.tokens.models import Token, digest, new_secret

if TYPE_CHECKING:
    TokenAdminBase = admin.ModelAdmin[Token]
else:
    TokenAdminBase = admin.ModelAdmin


@admin.register(Token)
class TokenAdmin(TokenAdminBase):
    list_display = ("__str__", "user", "created", "expires", "last_used")
    list_select_related = ("user",)
    search_fields = ("name",)
    raw_id_fields = ("user",)
    readonly_fields = ("created", "last_used")

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        """Give a new token its secret, and show it: it is stored nowhere."""
        if change:
            super().save_model(request, obj, form, change)
            return
        secret = new_secret()
        obj.digest = digest(secret)
        super().save_model(request, obj, form, change)
        text = _("The token is %(secret)s - copy it now, it is not shown again.")
        messages.warning(request, text % {"secret": secret})
