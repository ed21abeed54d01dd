from __future__ import annotations

from django_mcp.dispatch.tasks import deliver
from django_mcp.protocol import envelope, tasks
from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`tasks/update`: answers to what a task asks; all else is passed over (MCP tasks extension)."""
    record = tasks.find(exchange)
    deliver(record, exchange.message.params["inputResponses"])
    return envelope.complete(exchange.settings, {})
