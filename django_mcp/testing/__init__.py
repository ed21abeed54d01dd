"""For a site's own tests of its tools: run one, or be a client of the whole endpoint."""

from __future__ import annotations

from django_mcp.testing.clients import AsyncClient, Client
from django_mcp.testing.clock import FakeClock, fake_clock
from django_mcp.testing.requests import build_call, build_request, mirrored_headers
from django_mcp.testing.results import (
    JSONRPCError,
    audio,
    error_json,
    error_text,
    image,
    json,
    structured,
    text,
)
from django_mcp.testing.running import arun_tool, build_context, run_task, run_tool, served

__all__ = [
    "AsyncClient",
    "Client",
    "FakeClock",
    "JSONRPCError",
    "arun_tool",
    "audio",
    "build_call",
    "build_context",
    "build_request",
    "error_json",
    "error_text",
    "fake_clock",
    "image",
    "json",
    "mirrored_headers",
    "run_task",
    "run_tool",
    "served",
    "structured",
    "text",
]
