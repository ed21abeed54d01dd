from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware

from django_mcp.auth.contract import AuthenticationFailed


class _CsrfCheck(CsrfViewMiddleware):
    """Django's own check, whose refusal is a reason instead of a page."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


class SessionAuth:
    """`AUTH` by Django's own session, for clients that run in the browser of a user who is logged in.

    The endpoint is exempt from CSRF checks because clients of a machine protocol have no token; a session
    cookie goes out by itself, though, so here Django's check is made all the same: an Origin of this site,
    the CSRF cookie and its token in the `X-CSRFToken` header.
    """

    #: `*` as an allowed origin or host does not go with this (system check).
    cookie_based: ClassVar[bool] = True
    #: What has to be in MIDDLEWARE, itself or a subclass (system check).
    required_middleware: ClassVar[tuple[str, ...]] = (
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    )

    def authenticate(self, request: HttpRequest) -> Any:
        """The user of the session. Raises AuthenticationFailed without one, or without proof against CSRF."""
        user = getattr(request, "user", None)
        if user is None or not user.is_authenticated:
            raise AuthenticationFailed("Log in to this site first.")
        if "HTTP_ORIGIN" not in request.META:
            raise AuthenticationFailed("A session needs the Origin header beside it.")
        check = _CsrfCheck(self.authenticate)
        check.process_request(request)
        reason: Any = check.process_view(request, self.authenticate, (), {})
        if reason is not None:
            raise AuthenticationFailed(str(reason))
        return user
