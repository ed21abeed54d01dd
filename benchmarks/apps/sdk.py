"""The official SDK: streamable HTTP without sessions, JSON responses."""

from __future__ import annotations

import os

from mcp.server.mcpserver import MCPServer

from benchmarks.apps.functions import register

server = MCPServer(name="bench", version="1", log_level="WARNING")
register(server.tool)
asgi = server.streamable_http_app(
    streamable_http_path=f"/{os.environ['SHAPE']}", json_response=True, stateless_http=True
)
