from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

#: How often the last use of a token is written at most.
LAST_USED_EVERY = timedelta(minutes=1)
#: Characters of what a token is called.
NAME_LENGTH = 100


def new_secret() -> str:
    """256 random bits, in characters that a header can carry."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is stored of a token. It has 256 random bits, so a plain hash cannot be reversed by guessing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


class TokenManager(models.Manager["Token"]):
    def issue(self, user: Any, name: str = "", expires: datetime | None = None) -> tuple[Token, str]:
        """Make a token. The secret, the second of the pair, is to be had only here."""
        secret = new_secret()
        return self.create(user=user, name=name, expires=expires, digest=digest(secret)), secret

    @sensitive_variables("secret")
    def find(self, secret: str) -> Token | None:
        """The token of a secret, with its user, in one query; None if expired or the user is inactive."""
        usable = Q(expires=None) | Q(expires__gt=timezone.now())
        token = self.select_related("user").filter(usable, digest=digest(secret)).first()
        # Not every user model has `is_active` as a field that could be filtered by.
        return token if token is not None and token.user.is_active else None


class Token(models.Model):
    """One token of one user. Only its digest is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mcp_tokens", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=NAME_LENGTH, blank=True, help_text=_("What it is for."))
    digest = models.CharField(_("digest"), max_length=64, unique=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expires = models.DateTimeField(_("expires"), null=True, blank=True, help_text=_("Empty: never."))
    last_used = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)

    objects: ClassVar[TokenManager] = TokenManager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ("-created", "-id")

    def __str__(self) -> str:
        return self.name or f"#{self.pk}"

    def touch(self) -> None:
        """Note the use of now, at most once in LAST_USED_EVERY; of two requests at once, one writes."""
        now = timezone.now()
        if self.last_used is None or now - self.last_used >= LAST_USED_EVERY:
            Token.objects.filter(pk=self.pk, last_used=self.last_used).update(last_used=now)
