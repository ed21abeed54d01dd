"""The endpoint as a view, for a path of one's own: `path("mcp", MCPView.as_view(server="staff"))`."""

from __future__ import annotations

from django_mcp.transports.http.view import AsyncMCPView, MCPView

__all__ = ["AsyncMCPView", "MCPView"]
