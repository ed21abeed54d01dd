"""Ten thousand calls with injected failures, from threads and from an event loop: `python -m tests.soak.run`.

Every call has to be answered, and what is committed has to be what was answered. Afterwards no thread, no
slot, no connection and no cached call may be left behind.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import shutil
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.soak.settings")
# What goes wrong here is meant to, and is counted.
logging.disable()
django.setup()

from asgiref.sync import ThreadSensitiveContext, sync_to_async  # noqa: E402
from django.conf import settings  # noqa: E402 (after the app registry)
from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402
from django.db.backends.signals import connection_created  # noqa: E402

from django_mcp import (  # noqa: E402
    Axis,
    Breaker,
    Cache,
    Concurrency,
    Degradation,
    Policy,
    Retry,
    Timeout,
    Tool,
    ToolError,
    action,
    errors,
    testing,
)
from django_mcp.policy import timeout  # noqa: E402
from django_mcp.registry.catalog import catalog  # noqa: E402
from example_project.tracker.models import Project  # noqa: E402

CALLS = 10_000
THREADS = 8
CANCELLED = "cancelled"
TENANT = Axis("soak_tenant")
#: What a handler does, and how often out of a hundred.
MISHAPS = {
    "late": 1,
    "transient": 20,
    "permanent": 5,
    "tool": 5,
    "bug": 3,
}
random.seed(8)

POLICY = Policy(
    degradation=Degradation(lambda data, ctx: "stub"),
    concurrency=Concurrency(limit=6, per_axis=3),
    breaker=Breaker(window=50, failure_threshold=45, reset_timeout=1),
    retry=Retry(attempts=3, base_delay=0.1, max_delay=1),
    timeout=Timeout(1000),
)
CACHED = Policy(cache=Cache(ttl=20), concurrency=Concurrency(limit=4), retry=POLICY.retry)


def mishap() -> str:
    drawn = random.randrange(100)
    for name, share in MISHAPS.items():
        drawn -= share
        if drawn < 0:
            return name
    return "none"


def fail(kind: str) -> None:
    if kind == "transient":
        raise errors.TransientError("busy")
    if kind == "permanent":
        raise errors.PermanentError("closed")
    if kind == "tool":
        raise ToolError("no such thing")
    if kind == "bug":
        raise ValueError("bug")


class Soak(Tool):
    """What is soaked."""

    clock: testing.FakeClock

    @action(description="Write", properties={"n": {}}, policy=POLICY)
    def write(self, data: Any, ctx: Any) -> Any:
        Project.objects.create(name=f"write {data['n']}")
        kind = mishap()
        if kind == "late":
            self.clock.advance(1000)
            while not ctx.cancelled:
                time.sleep(0.0005)
        fail(kind)
        return data["n"]

    @action(description="Write", properties={"n": {}}, policy=POLICY)
    async def awrite(self, data: Any, ctx: Any) -> Any:
        await Project.objects.acreate(name=f"awrite {data['n']}")
        kind = mishap()
        if kind == "late":
            self.clock.advance(1000)
            await asyncio.Event().wait()
        fail(kind)
        return data["n"]

    @action(description="Read", properties={"n": {}}, policy=CACHED, read_only=True)
    def read(self, data: Any, ctx: Any) -> Any:
        fail(mishap())
        return data["n"]

    @action(description="Read", properties={"n": {}}, policy=CACHED, read_only=True)
    async def aread(self, data: Any, ctx: Any) -> Any:
        await asyncio.sleep(0)
        fail(mishap())
        return data["n"]


def outcome(name: str, result: dict[str, Any]) -> tuple[str, str]:
    return name, result["_meta"].get("django_mcp.error") or result["_meta"]["django_mcp.source"]


def from_thread(number: int) -> tuple[str, str]:
    name = "write" if number % 2 else "read"
    try:
        with TENANT.use(f"tenant {number % 5}"):
            result = testing.run_tool(
                "soak", action=name, data={"n": number if name == "write" else number % 50}
            )
        return outcome(name, result)
    finally:
        connections.close_all()


async def from_loop(number: int, turn: asyncio.Semaphore) -> tuple[str, str]:
    name = "awrite" if number % 2 else "aread"
    # As Django's ASGI handler does it: a thread for each request.
    async with turn, ThreadSensitiveContext():
        with TENANT.use(f"tenant {number % 5}"):
            data = {"n": number if name == "awrite" else number % 50}
            call = asyncio.ensure_future(testing.arun_tool("soak", action=name, data=data))
        if random.random() < 0.02:
            await asyncio.sleep(0)
            call.cancel()
        try:
            return outcome(name, await call)
        except asyncio.CancelledError:
            return name, CANCELLED
        finally:
            await sync_to_async(connections.close_all)()


async def loop_calls(count: int) -> list[tuple[str, str]]:
    turn = asyncio.Semaphore(16)
    return list(await asyncio.gather(*(from_loop(number, turn) for number in range(count))))


def soak() -> list[str]:
    opened: list[Any] = []
    connection_created.connect(lambda connection, **_: opened.append(connection), weak=False)
    found: list[tuple[str, str]] = []
    threads = threading.active_count()
    with testing.fake_clock() as clock:
        served = type("Soak", (Soak,), {"__doc__": "Soaked.", "name": "soak", "clock": clock})
        with testing.served(served), ThreadPoolExecutor(THREADS) as pool:
            looped = pool.submit(asyncio.run, loop_calls(CALLS // 2))
            found += pool.map(from_thread, range(CALLS - CALLS // 2))
            found += looped.result()
            chains = [entry.chain for entry in catalog("default").by_name["soak"].actions.values()]
    until = time.monotonic() + 30
    while (threading.active_count() > threads + 1 or timeout.outliving()) and time.monotonic() < until:
        time.sleep(0.01)
    return judge(found, opened, threads, chains)


def judge(found: list[tuple[str, str]], opened: list[Any], threads: int, chains: list[Any]) -> list[str]:
    """Print what happened; what should not have comes back."""
    counts = Counter(found)
    for (name, kind), count in sorted(counts.items()):
        print(f"{name:8}{kind:18}{count:7}")
    wrong = []
    if len(found) != CALLS:
        wrong.append(f"{CALLS - len(found)} calls are lost")
    written = Counter(Project.objects.values_list("name", flat=True))
    live = sum(counts[name, "live"] for name in ("write", "awrite"))
    # A call that is cancelled while it commits is committed.
    extra = len(written) - live
    if max(written.values()) > 1 or not 0 <= extra <= counts["awrite", CANCELLED]:
        wrong.append(f"{live} calls were answered, {written.total()} rows are written")
    if timeout.outliving():
        wrong.append(f"{timeout.outliving()} attempts still run")
    # The thread in which Django runs what is thread-sensitive stays for good.
    if threading.active_count() > threads + 1:
        wrong.append(f"threads are left: {threading.enumerate()}")
    for chain in chains:
        wrong += leftovers(chain)
    still_open = [one for one in opened if one.connection is not None]
    # That of this thread.
    if len(still_open) > 1:
        wrong.append(f"{len(still_open)} connections are open")
    return wrong


def leftovers(chain: Any) -> list[str]:
    """Slots and cached calls that are still held."""
    wrong, step = [], chain.run
    while hasattr(step.func, "__self__"):
        link, step = step.func.__self__, step.args[0]
        if getattr(link, "_flights", None):
            wrong.append(f"{chain.label}: cached calls are under way")
        if getattr(link, "_slices", None):
            wrong.append(f"{chain.label}: places of tenants are held")
        if hasattr(link, "_all") and (link._all._waiting or link._all._free != link.limit):
            wrong.append(f"{chain.label}: {link.limit - link._all._free} slots are held")
    return wrong


def main() -> None:
    folder = settings.DATABASES["default"]["NAME"].parent
    try:
        call_command("migrate", verbosity=0)
        started = time.monotonic()
        wrong = soak()
        print(f"{CALLS} calls in {time.monotonic() - started:.0f} s")
    finally:
        connections.close_all()
        shutil.rmtree(folder)
    for problem in wrong:
        print(problem, file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
