from __future__ import annotations

from django_mcp.protocol import envelope, tasks
from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`tasks/get`: how a task stands, with its result or what it asks (MCP tasks extension)."""
    record = tasks.find(exchange)
    return envelope.complete(exchange.settings, tasks.detailed(record))
