"""The time one attempt may take.

An async handler is cancelled. A sync handler cannot be: it runs in a thread of its own, and where it outlives
its time the thread goes on after the call is answered. Its transaction is rolled back when it ends, its
context says `cancelled`, and the log and `outliving` say that it is there.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from django.db import connections

from django_mcp.errors import AttemptTimeout
from django_mcp.policy import clock
from django_mcp.policy.call import Call
from django_mcp.policy.options import Timeout

logger = logging.getLogger("django_mcp")

_lock = threading.Lock()
_outliving = 0


def outliving() -> int:
    """How many sync handlers run in this process although their time is over."""
    return _outliving


def _count(change: int) -> int:
    global _outliving
    with _lock:
        _outliving += change
        return _outliving


class TimeoutLink:
    def __init__(self, label: str, options: Timeout) -> None:
        self._label = label
        self._seconds = options.seconds

    def call(self, call: Call) -> Any:
        if call.is_async:
            return call.attempt(self._cancelling(call.handler))
        watch = _Watch()
        answer: Future[Any] = Future()
        context = contextvars.copy_context()
        until = clock.get().monotonic() + self._seconds
        threading.Thread(
            target=context.run,
            args=(self._work, call, watch, answer),
            name=f"django_mcp {self._label}",
            # One that never ends must not keep the process from ending.
            daemon=True,
        ).start()
        if not clock.get().wait(answer, until) and watch.expire():
            logger.warning("%s outlives its time; %d such attempts run.", self._label, _count(1))
            raise self._timeout()
        return answer.result()

    async def acall(self, call: Call) -> Any:
        return await call.aattempt(self._cancelling(call.handler))

    def _work(self, call: Call, watch: _Watch, answer: Future[Any]) -> None:
        """The thread of one attempt: its own context, its own connections."""
        raised: BaseException | None = None
        result = None
        try:
            try:
                result = call.attempt(watch.over(call.handler))
            finally:
                connections.close_all()
        except BaseException as failure:
            raised = failure
        if watch.end():
            logger.info("%s ended late; %d such attempts run.", self._label, _count(-1))
        elif raised is None:
            answer.set_result(result)
        else:
            answer.set_exception(raised)

    def _cancelling(self, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """An async handler that is cancelled when its time is over."""

        async def bounded(data: Any, ctx: Any) -> Any:
            loop = asyncio.get_running_loop()
            limit = asyncio.timeout(None)
            try:
                async with limit:
                    take_back = clock.get().call_later(self._seconds, lambda: limit.reschedule(loop.time()))
                    try:
                        return await handler(data, ctx)
                    finally:
                        take_back()
            except TimeoutError:
                if limit.expired():
                    raise self._timeout() from None
                raise

        return bounded

    def _timeout(self) -> AttemptTimeout:
        return AttemptTimeout(f"{self._label} took longer than {self._seconds:g} seconds.")


class _Late(Exception):
    """Ends an attempt whose time is over: it rolls back, and nobody waits for it."""


class _Watch:
    """Decides once whether a handler ended first or its time did."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False
        self._ctx: Any = None
        self._expired = False

    def over(self, handler: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def watched(data: Any, ctx: Any) -> Any:
            self._begin(ctx)
            try:
                return handler(data, ctx)
            finally:
                if self.end():
                    raise _Late

        return watched

    def expire(self) -> bool:
        """Whether time is over before the handler ended; if so, the handler's context says `cancelled`."""
        with self._lock:
            if self._ended:
                return False
            self._expired = True
            if self._ctx is not None:
                self._ctx.cancelled = True
            return True

    def end(self) -> bool:
        """Note that the handler has ended; whether that was too late."""
        with self._lock:
            self._ended = True
            return self._expired

    def _begin(self, ctx: Any) -> None:
        with self._lock:
            self._ctx = ctx
            if self._expired:
                raise _Late
