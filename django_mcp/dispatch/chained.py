"""A call as the chain around its handler knows it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.utils import timezone, translation

from django_mcp.auth.identity import principal
from django_mcp.authoring.errors import ToolError
from django_mcp.dispatch import answer
from django_mcp.dispatch.answer import CallResult
from django_mcp.dispatch.classify import verdict
from django_mcp.dispatch.threads import in_thread
from django_mcp.encoding import codec
from django_mcp.encoding.canonical import canonical
from django_mcp.errors import PermanentError
from django_mcp.policy.call import Outcome

if TYPE_CHECKING:
    from django.dispatch import Signal

    from django_mcp.authoring.context import Context
    from django_mcp.dispatch.run import Run


class Chained:
    """Every attempt gets data and a context of its own, so that one that failed leaves nothing behind."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.handler = run.handler
        self.outcome = run.outcome

    @property
    def is_async(self) -> bool:
        return self._run.is_async

    @property
    def cancelled(self) -> bool:
        return self._run.ctx.cancelled

    def attempt(self, handler: Callable[[Any, Any], Any]) -> CallResult:
        with self._fork() as ctx:
            return self._run.attempt(self._run.in_time(handler), self._data(), ctx)

    async def aattempt(self, handler: Callable[[Any, Any], Any]) -> CallResult:
        with self._fork() as ctx:
            try:
                return await self._run.aattempt(self._run.in_time(handler), self._data(), ctx)
            except Exception:
                # A handler may make a failure of its own of what cancels it.
                task = asyncio.current_task()
                assert task is not None
                if task.cancelling():
                    self._run.ctx.cancelled = True
                raise

    def stand_in(self, stub: Callable[[Any, Any], Any]) -> CallResult:
        with self._fork() as ctx:
            return self._run.answer(stub(self._data(), ctx), ctx)

    def kept_error(self, raised: Exception) -> CallResult | None:
        """The answer to what the tool means for the caller and would mean again; None for any other."""
        if isinstance(raised, ToolError):
            return answer.error(self._run.registration, raised, self._run.ctx, self._run.view)
        found = verdict(raised) if isinstance(raised, PermanentError) else None
        return None if found is None else answer.failure(raised, found)

    def identity(self, *, public: bool) -> Any:
        run = self._run
        return [
            run.ctx.server,
            canonical(run.arguments()),
            # The user's answers stand in no argument, yet the handler reads them.
            canonical(run.ctx.answers),
            translation.get_language(),
            timezone.get_current_timezone_name(),
            # Hints name only what the caller sees, and no author can say that all see the same.
            run.view.key,
            "" if public else principal(run.ctx.user),
        ]

    def dump(self, result: CallResult) -> bytes:
        kept = {
            "content": result.content,
            "is_error": result.is_error,
            "error_kind": result.error_kind,
            "meta": result.meta,
            "wrapped": result.wrapped,
        }
        if result.structured is not answer.UNSET:
            kept["structured"] = result.structured
        return codec.encode(kept)

    def load(self, data: bytes) -> CallResult:
        return CallResult(**codec.decode(data))

    def signal(self, signal: Signal, **fields: Any) -> None:
        self._run.signal(signal, **fields)

    async def in_thread(self, step: Callable[..., Any], *args: Any) -> Any:
        return await in_thread(step, *args)

    def left(self) -> float | None:
        return self._run.left()

    def report(self, result: CallResult) -> CallResult:
        """The answer with where it came from in its `_meta`."""
        outcome: Outcome = self.outcome
        result.meta = {
            **result.meta,
            answer.SOURCE: outcome.source,
            answer.DEGRADED: outcome.degraded,
            answer.ATTEMPTS: outcome.attempts,
        }
        return result

    def _data(self) -> Any:
        return copy.deepcopy(self._run.data)

    @contextmanager
    def _fork(self) -> Iterator[Context]:
        ctx = self._run.ctx.fork()
        try:
            yield ctx
        finally:
            self._run.ctx.adopt(ctx)
