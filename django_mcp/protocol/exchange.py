from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django_mcp.conf import ServerSettings
from django_mcp.protocol.jsonrpc import Message
from django_mcp.registry.catalog import Catalog, View

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context


@dataclass(slots=True)
class Exchange:
    """What a method answers from: the request, who asks, and what that caller sees of the server."""

    message: Message
    ctx: Context
    settings: ServerSettings
    catalog: Catalog
    view: View
