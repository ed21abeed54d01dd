from __future__ import annotations

from django_mcp.protocol.exchange import Exchange


def answer(exchange: Exchange) -> bytes:
    """`logging/setLevel` of the revisions before 2026-07-28: accepted, since clients send it unasked.

    It has no effect, as no log message is ever sent; logging is not among the capabilities.
    """
    return b"{}"
