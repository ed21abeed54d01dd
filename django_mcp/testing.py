"""Helpers for a site's own tests of its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django_mcp.authoring import declare
from django_mcp.authoring.context import Context
from django_mcp.dispatch import run
from django_mcp.dispatch.answer import UNSET, CallResult
from django_mcp.registry.catalog import catalog


@contextmanager
def served(*tools: type) -> Iterator[None]:
    """Serve exactly these tools, besides the framework's own, while the block runs."""
    with declare.replaced(tools):
        yield


def build_context(
    *,
    server: str = "default",
    request_id: str | int = 1,
    user: Any = None,
    meta: Mapping[str, Any] | None = None,
    assigns: dict[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Context:
    ctx = Context(identity=user, assigns=assigns, headers=headers or {})
    ctx.server = server
    ctx.request_id = request_id
    ctx.meta = meta or {}
    return ctx


def run_tool(tool: str, arguments: Mapping[str, Any], *, ctx: Context | None = None) -> dict[str, Any]:
    ctx = ctx or build_context()
    view = catalog(ctx.server).view(ctx)
    registration = view.get(tool)
    assert registration is not None
    return _result(run.call(view, registration, dict(arguments), ctx))


async def arun_tool(tool: str, arguments: Mapping[str, Any], *, ctx: Context | None = None) -> dict[str, Any]:
    ctx = ctx or build_context()
    view = catalog(ctx.server).view(ctx)
    registration = view.get(tool)
    assert registration is not None
    return _result(await run.acall(view, registration, dict(arguments), ctx))


def _result(result: CallResult) -> dict[str, Any]:
    shown: dict[str, Any] = {"content": result.content, "isError": result.is_error, "_meta": result.meta}
    if result.structured is not UNSET:
        shown["structuredContent"] = result.structured
    return shown
