"""FastMCP: streamable HTTP without sessions, JSON responses."""

from __future__ import annotations

import os

from fastmcp import FastMCP

from benchmarks.apps.functions import register

server = FastMCP("bench", version="1")
register(server.tool)
asgi = server.http_app(path=f"/{os.environ['SHAPE']}", json_response=True, stateless_http=True)
