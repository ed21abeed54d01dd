"""Leaving the event loop for the request's thread, where the database may be touched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def announcing(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a step that announces in the request's thread; what a receiver binds to the context stays bound."""
    return await sync_to_async(step, thread_sensitive=True)(*args, **kwargs)


async def in_thread(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a step in the request's thread, to its end even if the request is cancelled meanwhile.

    A step that begins or ends a transaction must not be abandoned half-way: nobody would close what it
    opened.
    """
    started = _started(step, *args, **kwargs)
    try:
        return await asyncio.shield(started)
    except asyncio.CancelledError:
        await _ended(started)
        raise


async def abandonable(ctx: Context, step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """`in_thread` for a whole call: when the request is cancelled, its context says so to the handler."""
    started = _started(step, *args, **kwargs)
    try:
        return await asyncio.shield(started)
    except asyncio.CancelledError:
        ctx.cancelled = True
        await _ended(started)
        raise


async def lasting(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """`in_thread` for a step whose outcome counts: what is committed can neither be given up nor be late."""
    started = _started(step, *args, **kwargs)
    await _ended(started)
    return started.result()


def _started(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> asyncio.Task[_T]:
    return asyncio.create_task(sync_to_async(step, thread_sensitive=True)(*args, **kwargs))


async def _ended(started: asyncio.Task[Any]) -> None:
    """Wait for what runs in the thread to its end, however often the request is cancelled meanwhile."""
    while not started.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([started])
    if not started.cancelled():
        started.exception()  # looked at, so that nobody complains where the cancellation is what is raised
