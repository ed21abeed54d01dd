"""The real clock, by what it promises: order, not amounts."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

from django_mcp.policy import clock


def test_time_passes():
    real = clock.get()
    before = real.monotonic(), real.wall()
    real.sleep(0)

    assert real.monotonic() >= before[0]
    assert real.wall() > 1_700_000_000


async def test_a_bell_rings_unless_it_is_taken_back():
    real, rung = clock.get(), asyncio.Event()
    never = []
    real.call_later(0, lambda: never.append(1))()
    real.call_later(0, rung.set)
    await real.asleep(0)
    await rung.wait()

    assert never == []


def test_a_future_is_waited_for_until_then():
    real = clock.get()
    future: Future[int] = Future()

    assert real.wait(future, real.monotonic()) is False
    threading.Thread(target=future.set_result, args=(1,)).start()
    assert real.wait(future, real.monotonic() + 10) is True
