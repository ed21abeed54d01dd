from __future__ import annotations

from typing import Any

from django_mcp.encoding import codec
from django_mcp.protocol import envelope, versions
from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`server/discover`: revisions, capabilities, instructions (MCP basic, discovery)."""
    settings = exchange.settings
    members: dict[str, Any] = {
        "supportedVersions": versions.served(settings),
        "capabilities": {"tools": {}},
    }
    if settings.instructions is not None:
        members["instructions"] = settings.instructions
    return codec.encode(envelope.cacheable(settings, members))
