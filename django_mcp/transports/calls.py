"""A request that is answered beside the transport that took it, and can be given up.

It never runs in Django's thread-sensitive thread: there it would hold up the head of its own response, and
the queries of middleware would run in its transaction.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections

from django_mcp.authoring.context import Context
from django_mcp.authoring.progress import Cancelled
from django_mcp.protocol.jsonrpc import Message, Response
from django_mcp.server import Server

logger = logging.getLogger("django_mcp")

Done = Callable[[Response | None], None]


class Call:
    """One request on its way. `done` gets the answer, or None where the call was given up."""

    def __init__(self, server: Server, message: Message, ctx: Context, done: Done) -> None:
        self._server = server
        self._message = message
        self._ctx = ctx
        self._done = done
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def start(self) -> None:
        """Answer in a thread of its own, on an event loop of its own where the handler is awaited."""
        run = self._run_loop if self._server.awaits(self._message) else self._run
        # A copy, so that the call sees what middleware has bound and binds nothing for anybody else.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), name="django_mcp call", daemon=True).start()

    def start_on_loop(self) -> None:
        """Answer on the running event loop where the handler is awaited, else in a thread of its own."""
        if self._server.awaits(self._message):
            self._loop = asyncio.get_running_loop()
            self._task = self._loop.create_task(self._answer())
        else:
            self.start()

    def cancel(self) -> None:
        """Give the call up: from any thread, at any time, any number of times."""
        self._ctx.cancelled = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not task.done():
            # The loop of a call's own thread may have been closed in between.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(task.cancel)

    def _run(self) -> None:
        response = None
        try:
            response = self._server.handle(self._message, self._ctx)
        except Cancelled:
            pass
        finally:
            connections.close_all()
            self._done(response)

    def _run_loop(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._started())

    async def _started(self) -> None:
        self._task = asyncio.current_task()
        await self._answer()

    async def _answer(self) -> None:
        response = None
        executor = ThreadPoolExecutor(1, "django_mcp call")
        try:
            if self._ctx.cancelled:
                raise asyncio.CancelledError  # given up before there was a task to cancel
            async with ThreadSensitiveContext(executor=executor):
                try:
                    response = await self._server.ahandle(self._message, self._ctx)
                finally:
                    await sync_to_async(connections.close_all)()
        except (Cancelled, asyncio.CancelledError):
            pass
        finally:
            executor.shutdown(wait=False)
            self._done(response)
