from __future__ import annotations

import logging
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpResponse

from django_mcp import signals
from django_mcp.auth import contract
from django_mcp.auth.contract import AuthenticationFailed
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, NO_ID, ProtocolError
from django_mcp.schema import bound
from django_mcp.transports.http.checks import Request, WireCheck

logger = logging.getLogger("django_mcp")


class Auth(WireCheck):
    """Who is calling, by the server's `AUTH`; without one everybody is anonymous (MCP authorization)."""

    name = "auth"
    reasons = frozenset({"auth_rejected", "auth_failed"})

    def check(self, request: Request) -> HttpResponse | None:
        path = request.mcp.settings.auth
        if path is None:
            return None
        try:
            request.mcp.identity = contract.authenticate(path, request)
        except Exception as raised:
            signal, fields = _event(raised)
            signals.send(signal, _sender(path), **_request_fields(request, path), **fields)
            return self._challenge(request, raised)
        return None

    async def acheck(self, request: Request) -> HttpResponse | None:
        path = request.mcp.settings.auth
        if path is None:
            return None
        try:
            request.mcp.identity = await contract.aauthenticate(path, request)
        except Exception as raised:
            signal, fields = _event(raised)
            await signals.asend(signal, _sender(path), **_request_fields(request, path), **fields)
            # The challenge's parameters are the site's code and may query the database.
            return await sync_to_async(self._challenge)(request, raised)
        return None

    def _challenge(self, request: Request, raised: Exception) -> HttpResponse:
        if isinstance(raised, AuthenticationFailed):
            text, reason = bound.render(raised) or "Authentication is required.", "auth_rejected"
        else:
            text, reason = "Authentication failed.", "auth_failed"
        headers = {"WWW-Authenticate": _bearer(request.mcp.settings.www_authenticate, request)}
        return self.refuse(request, ProtocolError(401, INVALID_REQUEST, reason, text), headers)


def _sender(path: str) -> Any:
    """The authentication in use; the check itself where there is none to be had."""
    try:
        return contract.resolve(path)
    except Exception:
        return Auth


def _event(raised: Exception) -> tuple[Any, dict[str, Any]]:
    if isinstance(raised, AuthenticationFailed):
        return signals.auth_rejected, {"reason": bound.render(raised)}
    return signals.auth_failed, {
        "exception": type(raised).__name__,
        "error": bound.render(raised),
        "crash_reason": raised,
    }


def _request_fields(request: Request, path: str) -> dict[str, Any]:
    sent = request.mcp.message
    return {
        "server": request.mcp.server.name,
        "request_id": None if sent.id is NO_ID else sent.id,
        "method": bound.value(sent.method or None),
        "auth": path,
    }


def _bearer(parameters: Any, request: Request) -> str:
    """The challenge (RFC 6750): parameters in declared order; bare where one of them cannot be rendered."""
    try:
        rendered = [f'{name}="{_quoted(value, request)}"' for name, value in parameters.items()]
    except Exception:
        logger.exception("WWW_AUTHENTICATE could not be rendered; the challenge goes out without parameters.")
        return "Bearer"
    return f"Bearer {', '.join(rendered)}" if rendered else "Bearer"


def _quoted(value: Any, request: Request) -> str:
    text = value(request) if callable(value) else value
    if not isinstance(text, str) or not (text.isascii() and text.isprintable()):
        raise TypeError(f"A WWW_AUTHENTICATE parameter must be printable ASCII, not {bound.render(text)}.")
    return text.replace("\\", "\\\\").replace('"', '\\"')
