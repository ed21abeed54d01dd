from __future__ import annotations

from typing import Any

from django_mcp.encoding import codec
from django_mcp.protocol import envelope
from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`initialize` of the revisions before 2026-07-28, without a session: a client may go on or start over freely."""
    settings = exchange.settings
    requested = exchange.message.params.get("protocolVersion")
    members: dict[str, Any] = {
        "protocolVersion": requested if requested in settings.legacy_versions else settings.legacy_versions[0],
        "capabilities": {"tools": {}},
        "serverInfo": envelope.server_info(settings),
    }
    if settings.instructions is not None:
        members["instructions"] = settings.instructions
    return codec.encode(members)
