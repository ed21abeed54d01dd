from __future__ import annotations

from typing import Any

from django.utils.translation import get_language

from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise
from django_mcp.protocol import envelope
from django_mcp.protocol.exchange import Exchange
from django_mcp.protocol.jsonrpc import INVALID_PARAMS, ProtocolError

#: How many encoded lists a catalog keeps: one for each visible set, language and era that was asked for.
_KEPT = 256


def answer(exchange: Exchange) -> bytes:
    """`tools/list`: every tool the caller sees, on one page (MCP server/tools)."""
    message, catalog = exchange.message, exchange.catalog
    if "cursor" in message.params:
        text = "params.cursor is unknown: tools/list has a single page."
        raise ProtocolError(400, INVALID_PARAMS, "invalid_cursor", text, request_id=message.id)
    key = (exchange.view.key, get_language(), message.legacy)
    body = catalog.encoded.get(key)
    if body is None:
        body = _encode(exchange)
        if len(catalog.encoded) >= _KEPT:
            catalog.encoded.clear()
        catalog.encoded[key] = body
    return body


def _encode(exchange: Exchange) -> bytes:
    view, legacy = exchange.view, exchange.message.legacy
    definitions = [view.definition(registration) for registration in view.registrations]
    members: dict[str, Any] = {
        "tools": [envelope.tool_definition(normalise(one), legacy=legacy) for one in definitions]
    }
    return codec.encode(members) if legacy else envelope.cacheable(exchange.settings, members)
