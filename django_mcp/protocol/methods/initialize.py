from __future__ import annotations

from typing import Any

from django_mcp.encoding import codec
from django_mcp.protocol import envelope, versions
from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`initialize` of the revisions before 2026-07-28: a handshake that opens no session."""
    settings = exchange.settings
    members: dict[str, Any] = {
        "protocolVersion": versions.agreed(exchange.message, settings),
        "capabilities": {"tools": {}},
        "serverInfo": envelope.server_info(settings),
    }
    if settings.instructions is not None:
        members["instructions"] = settings.instructions
    return codec.encode(members)
