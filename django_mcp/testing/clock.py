"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from django_mcp.policy import clock


class FakeClock(clock.Clock):
    """Time for policies. A pause passes at once and is noted in `slept`; all else waits for `advance`."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 1_000_000.0
        self._moved = threading.Condition()
        self._timers: list[tuple[float, Callable[[], Any]]] = []

    def advance(self, seconds: float) -> None:
        """Let time pass, from any thread: what it was waited for happens."""
        with self._moved:
            self._now += seconds
            due = [ring for when, ring in self._timers if when <= self._now]
            self._timers = [timer for timer in self._timers if timer[0] > self._now]
            self._moved.notify_all()
        for ring in due:
            ring()

    def monotonic(self) -> float:
        return self._now

    def wall(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)

    def wait(self, future: Future[Any], until: float) -> bool:
        future.add_done_callback(lambda _: self._notify())
        with self._moved:
            self._moved.wait_for(lambda: future.done() or self._now >= until)
        return future.done()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        loop = asyncio.get_running_loop()
        taken_back = threading.Event()

        def call() -> None:
            if not taken_back.is_set():
                callback()

        with self._moved:
            self._timers.append((self._now + seconds, lambda: loop.call_soon_threadsafe(call)))
        return taken_back.set

    def _notify(self) -> None:
        with self._moved:
            self._moved.notify_all()


@contextmanager
def fake_clock() -> Iterator[FakeClock]:
    """Let policies go by a clock of the test's own while the block runs: no pause takes time."""
    fake = FakeClock()
    with clock.replaced(fake):
        yield fake
