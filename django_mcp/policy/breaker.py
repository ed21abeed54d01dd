"""The circuit breaker: it keeps calls away from what has just failed too often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from django_mcp import signals
from django_mcp.errors import CircuitOpen
from django_mcp.policy import axes
from django_mcp.policy.call import Call
from django_mcp.policy.classify import is_transient
from django_mcp.policy.options import Breaker
from django_mcp.policy.states import LocalStates, Phase, SharedStates, State, States


class BreakerLink:
    """One breaker for each tenant (axes). A call counts once, however often it was tried.

    Only failures that pass by themselves count as failures; a permanent one, a ToolError, a question to the
    user and a cancellation are neither failure nor success.
    """

    def __init__(self, label: str, options: Breaker, cache: str) -> None:
        self.label = label
        self._options = options
        #: Where the breakers of all processes are; None where each process has its own.
        self.shared = SharedStates(label, options, cache) if options.shared else None
        self._states: States = self.shared or LocalStates()

    def call(self, inner: Callable[[Call], Any], call: Call) -> Any:
        key = axes.slice_of_now()
        ticket = self._admit(call, key)
        failed = None
        try:
            answer = inner(call)
            failed = False
            return answer
        except Exception as raised:
            failed = True if is_transient(raised) else None
            raise
        finally:
            self._settle(call, key, ticket, failed)

    async def acall(self, inner: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
        key = axes.slice_of_now()
        tickets: list[int | None] = []
        failed = None
        try:
            # Cancelled meanwhile, the call may have been admitted all the same, even as the probe.
            await call.in_thread(lambda: tickets.append(self._admit(call, key)))
            answer = await inner(call)
            failed = False
            return answer
        except Exception as raised:
            failed = True if is_transient(raised) else None
            raise
        finally:
            for ticket in tickets:
                await call.in_thread(self._settle, call, key, ticket, failed)

    def _admit(self, call: Call, key: axes.Slice) -> int | None:
        """The ticket the call's end is settled with; None where nobody knows. Raises CircuitOpen."""

        def admit(state: State) -> tuple[Phase, float | None, int, Phase]:
            before = state.phase
            retry_after = state.admit(self._options.reset_timeout, self._states.now())
            return before, retry_after, state.generation, state.phase

        known = self._states.change(key, admit)
        if known is None:
            return None
        before, retry_after, ticket, after = known
        if retry_after is not None:
            wait = retry_after if after == "open" else None
            call.signal(signals.breaker_rejected, state=after, retry_after=wait)
            raise CircuitOpen(f"{self.label} has failed too often just now.", retry_after=wait)
        self._tell(call, before, after)
        return ticket

    def _settle(self, call: Call, key: axes.Slice, ticket: int | None, failed: bool | None) -> None:
        if ticket is None:
            return
        window, threshold = self._options.window, self._options.failure_threshold

        def settle(state: State) -> tuple[Phase, Phase]:
            before = state.phase
            state.settle(ticket, failed, window, threshold, self._states.now())
            return before, state.phase

        known = self._states.change(key, settle)
        if known is not None:
            self._tell(call, *known)

    def _tell(self, call: Call, before: str, after: str) -> None:
        if before != after:
            call.signal(signals.breaker_changed, previous=before, state=after)

    def report(self, states: SharedStates) -> list[tuple[axes.Slice, State, float | None]]:
        """Every shared breaker that was ever open, with the seconds until it lets a probe through."""
        now = states.now()
        return [(key, state, state.left(self._options.reset_timeout, now)) for key, state in states.items()]
