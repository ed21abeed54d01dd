from __future__ import annotations

import logging
from typing import Any, ClassVar

from django.db import DatabaseError
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from django_mcp.auth.contract import AuthenticationFailed

logger = logging.getLogger("django_mcp")


class BearerTokenAuth:
    """`AUTH` by a bearer token of `django_mcp.tokens` in the Authorization header (RFC 6750)."""

    #: What has to be in INSTALLED_APPS (system check).
    required_apps: ClassVar[tuple[str, ...]] = ("django_mcp.tokens",)

    @sensitive_variables("secret")
    def authenticate(self, request: HttpRequest) -> Any:
        """The token's user. Raises AuthenticationFailed; a wrong and an expired token read alike."""
        # The sub-app is optional, and its models are not to be imported before the app registry is ready.
        from django_mcp.tokens.models import Token

        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        secret = secret.strip()
        if scheme.lower() != "bearer" or not secret:
            raise AuthenticationFailed("Send a token: Authorization: Bearer <token>.")
        token = Token.objects.find(secret)
        if token is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked.")
        try:
            token.touch()
        except DatabaseError:
            # A database that is locked or read-only is no reason to turn a caller away.
            logger.exception("The last use of a bearer token could not be noted.")
        return token.user
