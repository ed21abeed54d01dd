from __future__ import annotations

from typing import Any

from django_mcp.protocol import envelope, versions
from django_mcp.protocol.exchange import Exchange
from django_mcp.registry.background import EXTENSION


def answer(exchange: Exchange) -> bytes:
    """`server/discover`: revisions, capabilities, instructions (MCP basic, discovery)."""
    settings = exchange.settings
    capabilities: dict[str, Any] = {"tools": {}}
    if exchange.catalog.has_background:
        capabilities["extensions"] = {EXTENSION: {}}
    members: dict[str, Any] = {
        "supportedVersions": versions.served(settings),
        "capabilities": capabilities,
    }
    if settings.instructions is not None:
        members["instructions"] = settings.instructions
    return envelope.cacheable(settings, members)
