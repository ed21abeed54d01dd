from __future__ import annotations

from django.http import HttpRequest

from django_mcp.protocol import versions
from django_mcp.transports.http.checks import WireCheck, exchange, message


class ProtocolVersion(WireCheck):
    """The revision of a modern request is one the server speaks. Behind header binding, as MCP wants it."""

    name = "version"
    reasons = frozenset({"unsupported_version"})

    def check(self, request: HttpRequest) -> None:
        sent = message(request)
        if sent.is_request and not sent.legacy:
            versions.check_version(sent, exchange(request).settings)
