"""The axes of a call: bound before its handler runs, until it has been answered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync

from django_mcp.dispatch.threads import in_thread
from django_mcp.policy.axes import Params

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.registry.binders import Binder


def bind(binders: tuple[Binder, ...], sent: Mapping[str, Any], ctx: Context, stack: ExitStack) -> None:
    """Bind the axes whose binders find a value, until the stack is closed."""
    params = Params(ctx.tool, sent, ctx.meta)
    for axis, function, is_async in binders:
        value = (async_to_sync(function) if is_async else function)(ctx, params)
        if value is not None:
            stack.enter_context(axis.use(value))


async def abind(binders: tuple[Binder, ...], sent: Mapping[str, Any], ctx: Context, stack: ExitStack) -> None:
    """`bind` on the event loop."""
    params = Params(ctx.tool, sent, ctx.meta)
    for axis, function, is_async in binders:
        value = await (function(ctx, params) if is_async else in_thread(function, ctx, params))
        if value is not None:
            stack.enter_context(axis.use(value))
