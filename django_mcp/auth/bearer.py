from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from django_mcp.auth.contract import AuthenticationFailed


class BearerTokenAuth:
    """`AUTH` by a bearer token of `django_mcp.tokens` in the Authorization header (RFC 6750)."""

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
        token.touch()
        return token.user
