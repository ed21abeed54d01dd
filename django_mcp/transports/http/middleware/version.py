from __future__ import annotations

from django_mcp.protocol import versions
from django_mcp.transports.http.checks import Request, WireCheck


class ProtocolVersion(WireCheck):
    """The revision of a modern request is one the server speaks. Behind header binding, as MCP wants it."""

    name = "version"
    reasons = frozenset({"unsupported_version"})

    def check(self, request: Request) -> None:
        opened = request.mcp
        sent = opened.message
        if sent.is_request and not sent.legacy:
            versions.check_version(sent, opened.settings)
