from __future__ import annotations

from django_mcp.dispatch.tasks import cancel
from django_mcp.protocol import envelope, tasks
from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`tasks/cancel`: asks a task to stop; one that has ended stays as it is (MCP tasks extension)."""
    cancel(tasks.find(exchange))
    return envelope.complete(exchange.settings, {})
