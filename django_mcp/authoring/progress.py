"""Progress of a call, told from wherever its handler's code runs (MCP progress)."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from numbers import Number
from typing import TYPE_CHECKING, Any, Final

from django_mcp.authoring.elicitation import Interruption
from django_mcp.schema import bound

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

logger = logging.getLogger("django_mcp")

#: Seconds between two reports that are sent; what comes sooner waits for the next, or for the end.
INTERVAL_S: Final = 0.1

Send = Callable[[float, float | None, str | None], None]


class Cancelled(Interruption):
    """The caller has given the call up; nobody waits for its answer."""


class Reporter:
    """Hands reports on: only what grows, at most ten a second, the last one always. Used from any thread.

    `send(progress, total, message)` may block or fail; a failure is logged and never reaches the handler.
    """

    __slots__ = ("_clock", "_lock", "_next", "_reached", "_send", "_waiting")

    def __init__(self, send: Send, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._lock = threading.Lock()
        self._reached = float("-inf")
        self._next = float("-inf")
        self._waiting: tuple[float, float | None, str | None] | None = None

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Take one report; a value that is not above the last one taken is dropped (MCP progress)."""
        with self._lock:
            try:
                reached = _number(progress)
                # Text in the language of the handler, whatever that of whoever sends it.
                told = None if message is None else bound.sendable(str(message))
                waiting = (reached, None if total is None else _number(total), told)
                if reached > self._reached:
                    self._reached, self._waiting = reached, waiting
                    if self._clock() >= self._next:
                        self._hand_on()
            except Exception:
                logger.exception("A progress report could not be sent.")

    def flush(self) -> None:
        """Send what waits; to be called before the answer is."""
        with self._lock:
            try:
                self._hand_on()
            except Exception:
                logger.exception("A progress report could not be sent.")

    def _hand_on(self) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._next = self._clock() + INTERVAL_S
            self._send(*waiting)


def _number(value: Any) -> float:
    """A finite number of any kind as one that every client reads. Raises ValueError for anything else."""
    if type(value) is int:
        return value
    # Of what holds text or NaN nothing could ever be more, so that no later report would be sent.
    if not isinstance(value, Number) or not math.isfinite(number := float(value)):  # type: ignore[arg-type]
        raise ValueError(f"Progress is a finite number, not {bound.render(value)}.")
    return number


#: The call that `report_progress` speaks of.
current: Final[ContextVar[Context | None]] = ContextVar("django_mcp_call", default=None)


def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Report the progress of the call this code runs for; outside of a call nothing happens.

    The same as `Context.report_progress`, for code that has no context at hand.
    """
    ctx = current.get()
    if ctx is not None:
        ctx.report_progress(progress, total, message)


def flush(ctx: Context) -> None:
    """Send what waits of a call's progress, where its client wants to hear of it."""
    if ctx.reporter is not None:
        ctx.reporter.flush()
