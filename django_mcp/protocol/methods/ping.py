from __future__ import annotations

from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`ping` of the revisions before 2026-07-28: exactly an empty object."""
    return b"{}"
