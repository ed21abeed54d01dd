from __future__ import annotations

from django_mcp.protocol import versions
from django_mcp.transports.http.checks import Request, WireCheck


class ProtocolFields(WireCheck):
    """Which revision the request speaks, and that a modern one carries its protocol fields."""

    name = "fields"
    reasons = frozenset({"header_mismatch", "invalid_fields", "posted_response", "unsupported_version"})

    def check(self, request: Request) -> None:
        opened = request.mcp
        sent = opened.message
        header = request.META.get("HTTP_MCP_PROTOCOL_VERSION")
        versions.choose_era(sent, None if header is None else header.strip(), opened.settings)
        if sent.is_request and not sent.legacy:
            versions.check_fields(sent)
