"""The time every part of this room goes by, in one place so that tests can replace it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any


class Clock:
    """The real time. Durations are in seconds."""

    def monotonic(self) -> float:
        """For what lives in this process."""
        return time.monotonic()

    def wall(self) -> float:
        """For what several processes read: seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def wait(self, future: futures.Future[Any], until: float) -> bool:
        """Wait for a future, by `monotonic` until then; whether it is done."""
        return bool(futures.wait([future], max(0.0, until - time.monotonic())).done)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back on the running event loop; what comes back takes the call back."""
        return asyncio.get_running_loop().call_later(seconds, callback).cancel


_clock = Clock()


def get() -> Clock:
    return _clock


@contextmanager
def replaced(clock: Clock) -> Iterator[None]:
    """Go by another clock for a while."""
    global _clock
    before, _clock = _clock, clock
    try:
        yield
    finally:
        _clock = before
