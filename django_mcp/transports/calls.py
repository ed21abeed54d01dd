"""A request that is answered beside the transport that took it, and can be given up.

It never runs in Django's thread-sensitive thread: there it would hold up the head of its own response, and
the queries of middleware would run in its transaction.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext, async_to_sync
from django.db import connections

from django_mcp.authoring.context import Context
from django_mcp.authoring.progress import Cancelled
from django_mcp.dispatch.threads import in_thread
from django_mcp.protocol.jsonrpc import Message, Response
from django_mcp.server import Server

Done = Callable[[Response | None], None]


class Call:
    """One request on its way. `done` gets the answer, or None where the call was given up."""

    def __init__(self, server: Server, message: Message, ctx: Context, done: Done) -> None:
        self._server = server
        self._message = message
        self._ctx = ctx
        self._done = done
        # A response that nobody reads is closed by the garbage collector, in a thread that may hold this.
        self._lock = threading.RLock()
        self._ended = False
        self._task: asyncio.Task[Any] | None = None
        self._kept: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Answer in a thread of its own, beside an event loop of its own."""
        # A copy, so that the call sees what middleware has bound and binds nothing for anybody else. What
        # belongs to a thread of Django's, the language and the time zone, is moved along by async_to_sync.
        run = contextvars.copy_context().run
        threading.Thread(
            target=run, args=(async_to_sync(self._answer),), name="django_mcp call", daemon=True
        ).start()

    def start_on_loop(self) -> None:
        """Answer on the running event loop, beside a thread of its own."""
        self._kept = asyncio.get_running_loop().create_task(self._answer_beside_thread())

    def cancel(self) -> None:
        """Give the call up: from any thread, at any time, any number of times."""
        with self._lock:
            # Once alone: what a handler awaits while it cleans up is not cancelled, too.
            if self._ended or self._ctx.cancelled:
                return
            self._ctx.cancelled = True
            if self._task is not None:
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)

    async def _answer_beside_thread(self) -> None:
        executor = ThreadPoolExecutor(1, "django_mcp call")
        try:
            async with ThreadSensitiveContext(executor=executor):
                await self._answer()
        finally:
            executor.shutdown(wait=False)

    async def _answer(self) -> None:
        response = None
        try:
            self._begin()
            try:
                response = await self._server.ahandle(self._message, self._ctx)
            finally:
                await in_thread(connections.close_all)
        except (Cancelled, asyncio.CancelledError):
            response = None
        finally:
            self._end(response)

    def _begin(self) -> None:
        with self._lock:
            if self._ctx.cancelled:
                raise asyncio.CancelledError
            self._task = asyncio.current_task()

    def _end(self, response: Response | None) -> None:
        with self._lock:
            self._ended = True
        self._done(None if self._ctx.cancelled else response)
