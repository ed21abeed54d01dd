from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import DisallowedHost

from django_mcp import conf
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, ProtocolError
from django_mcp.schema import bound
from django_mcp.transports.http.checks import Request, WireCheck


class Origin(WireCheck):
    """Who may call from a browser (MCP transports): an allowed origin, or one of an allowed host."""

    name = "origin"
    reasons = frozenset({"duplicate_origin", "host_not_allowed", "origin_not_allowed"})

    def check(self, request: Request) -> None:
        host = request.META.get("HTTP_HOST")
        try:
            if host is None or not conf.names_site(host):
                request.get_host()
        except DisallowedHost:
            text = "The Host header names no host of this site (ALLOWED_HOSTS)."
            raise ProtocolError(400, INVALID_REQUEST, "host_not_allowed", text) from None
        origin = request.META.get("HTTP_ORIGIN")
        if origin is None:
            return
        # A header sent twice arrives joined by a comma, which no origin contains.
        if "," in origin:
            text = "The Origin header was sent more than once; send it once."
            raise ProtocolError(400, INVALID_REQUEST, "duplicate_origin", text)
        if not self._allowed(origin, request.mcp.settings.allowed_origins):
            text = f"The origin {bound.echo(origin)!r} is not allowed here (ALLOWED_ORIGINS)."
            raise ProtocolError(403, INVALID_REQUEST, "origin_not_allowed", text)

    @staticmethod
    def _allowed(origin: str, allowed: tuple[str, ...]) -> bool:
        if allowed:
            return origin in allowed or "*" in allowed
        try:
            host = urlsplit(origin).netloc
        except ValueError:
            return False
        return conf.host_allowed(host)
