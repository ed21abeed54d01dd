"""A stand-in for the answer where the handler fails for a reason that passes by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from django_mcp import signals
from django_mcp.policy.call import Call
from django_mcp.policy.classify import is_transient
from django_mcp.policy.options import Degradation
from django_mcp.schema import bound


class DegradationLink:
    def __init__(self, options: Degradation) -> None:
        self._stub = options.stub

    def call(self, inner: Callable[[Call], Any], call: Call) -> Any:
        try:
            return inner(call)
        except Exception as raised:
            if not is_transient(raised):
                raise
            return self._stand_in(call, raised)

    async def acall(self, inner: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
        try:
            return await inner(call)
        except Exception as raised:
            if not is_transient(raised):
                raise
            return await call.in_thread(self._stand_in, call, raised)

    def _stand_in(self, call: Call, raised: Exception) -> Any:
        answer = call.stand_in(self._stub)
        call.outcome.source, call.outcome.degraded = "stub", True
        call.signal(signals.call_degraded, exception=type(raised).__name__, error=bound.render(raised))
        return answer
