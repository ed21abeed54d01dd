"""What a chain knows of the call it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from django.dispatch import Signal


@dataclass(slots=True)
class Outcome:
    """Where an answer came from, whether it stands in for a failure, how often the handler was started."""

    source: Literal["live", "cache", "stub"] = "live"
    degraded: bool = False
    attempts: int = 0


class Call(Protocol):
    """One call on its way; an answer is the caller's own business, here it is only handed on.

    `attempt(handler)` runs a handler once, in its own transaction, and answers; it raises what the handler
    raised. `stand_in(stub)` answers with what a stub returns. `kept_error(raised)` is the answer to a failure
    that may be kept, else None. `identity(public)` is all an answer depends on, as plain JSON. `dump` and
    `load` turn an answer into bytes and back. `in_thread` runs a step where the database may be touched.
    `left` are the seconds left for the whole call, None for any number. `cancelled` is whether the caller has
    given it up.
    """

    handler: Callable[[Any, Any], Any]
    outcome: Outcome

    @property
    def is_async(self) -> bool: ...
    @property
    def cancelled(self) -> bool: ...
    def attempt(self, handler: Callable[[Any, Any], Any]) -> Any: ...
    async def aattempt(self, handler: Callable[[Any, Any], Any]) -> Any: ...
    def stand_in(self, stub: Callable[[Any, Any], Any]) -> Any: ...
    def kept_error(self, raised: Exception) -> Any: ...
    def identity(self, *, public: bool) -> Any: ...
    def dump(self, answer: Any) -> bytes: ...
    def load(self, data: bytes) -> Any: ...
    def signal(self, signal: Signal, **fields: Any) -> None: ...
    def left(self) -> float | None: ...
    async def in_thread(self, step: Callable[..., Any], *args: Any) -> Any: ...
