"""A call whose caller has left is not begun, and not tried again."""

from __future__ import annotations

import asyncio
import json
import threading
from types import SimpleNamespace

import pytest
from django.core.cache import cache

from django_mcp import Cache, Concurrency, Policy, Retry, Tool, action, errors, testing
from django_mcp.dispatch.chained import Chained
from django_mcp.policy import clock as clocks
from django_mcp.policy import waiting
from django_mcp.transports.http.view import AsyncMCPView, MCPView
from tests.transports.http.test_sse import (
    ASGI,
    LISTENING,
    META,
    WSGI,
    call,
    cancelled,
    drained,
    events,
    gate,
    until,
)

__all__ = ["cancelled", "gate"]

pytestmark = pytest.mark.django_db(transaction=True)

RETRY = Policy(retry=Retry(attempts=3, base_delay=0, max_delay=1))
VIEWS = [MCPView, AsyncMCPView]


@pytest.fixture(params=["sync", "async"])
def calls(request, gate):
    """How often a handler began that fails as soon as its caller has left, in a way that may pass."""
    begun = []

    class Plain(Tool):
        name = "work"
        description = "Works."

        @action(description="Fail late", properties={}, policy=RETRY)
        def wait(self, data, ctx):
            begun.append(ctx.cancelled)
            ctx.report_progress(len(begun))
            gate.begun.set()
            until(lambda: ctx.cancelled)
            raise errors.TransientError("busy")

    class Awaited(Tool):
        name = "work"
        description = "Works."

        @action(description="Fail late", properties={}, policy=RETRY)
        async def wait(self, data, ctx):
            begun.append(ctx.cancelled)
            ctx.report_progress(len(begun))
            gate.begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise errors.TransientError("busy") from None

    with testing.served(Plain if request.param == "sync" else Awaited):
        yield begun


@pytest.mark.parametrize("view", VIEWS)
def test_a_call_whose_stream_is_closed_is_not_tried_again(calls, gate, view, cancelled, heard):
    _, response = WSGI(view).post(call("wait"))
    gate.wait("begun")
    response.close()

    until(lambda: cancelled == [("work", "wait")])
    assert calls == [False]
    assert [name for name, _ in heard] == ["tool_started", "tool_cancelled"]


async def test_a_call_whose_view_is_cancelled_is_not_tried_again(calls, gate, cancelled, heard):
    serving = asyncio.create_task(ASGI(AsyncMCPView)._post(call("wait", meta=META), {}))
    assert await asyncio.to_thread(gate.begun.wait, 20)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving

    await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])
    assert calls == [False]
    assert [name for name, _ in heard] == ["tool_started", "tool_cancelled"]


class Leaving(clocks.Clock):
    """A clock by whose pauses the caller leaves."""

    leave = None

    def sleep(self, seconds):
        self.leave()

    async def asleep(self, seconds):
        self.leave()
        await asyncio.Event().wait()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_whose_caller_leaves_between_two_attempts_is_not_tried_again(gate, cancelled, view, is_async):
    begun = []

    def fail(ctx):
        begun.append(1)
        ctx.report_progress(1)
        gate.wait("go")
        raise errors.TransientError("busy")

    class Work(Tool):
        """Works."""

        @action(description="Fail", properties={}, policy=RETRY)
        def wait(self, data, ctx):
            fail(ctx)

        @action(description="Fail", properties={}, policy=RETRY)
        async def await_(self, data, ctx):
            await asyncio.to_thread(fail, ctx)

    name = "await_" if is_async else "wait"
    leaving = Leaving()
    with clocks.replaced(leaving), testing.served(Work):
        _, response = WSGI(view).post(call(name))
        leaving.leave = response.close
        gate.go.set()
        until(lambda: cancelled == [("work", name)])
    assert begun == [1]


#: What makes a call wait for another one like it, and what a third one then answers.
WAITS = {
    "for its turn": (Policy(concurrency=Concurrency(limit=1)), 2),
    "for its answer": (Policy(cache=Cache(ttl=60)), 1),
}


@pytest.fixture(params=WAITS)
def shared(request, gate, monkeypatch):
    """A handler whose calls have to share: which began, whether another waits, how many begin in the end."""
    policy, in_the_end = WAITS[request.param]
    begun, waits = [], threading.Event()
    wait = waiting.wait

    class Work(Tool):
        """Works."""

        @action(description="Wait", properties={}, policy=policy, read_only=True)
        def wait(self, data, ctx):
            begun.append(1)
            ctx.report_progress(1)
            gate.wait("go")
            return {"begun": len(begun)}

    def watched(future, call):
        if not future.done():
            waits.set()
        return wait(future, call)

    monkeypatch.setattr(waiting, "wait", watched)
    cache.clear()
    with testing.served(Work):
        yield SimpleNamespace(begun=begun, waits=waits, in_the_end=in_the_end)


def posted(meta=LISTENING):
    return asyncio.create_task(ASGI(AsyncMCPView)._post(call("wait", meta=meta), {}))


async def answered(response):
    body = await drained(response) if response.streaming else response.content
    found = events(body)[-1] if response.streaming else json.loads(body)
    return testing.json(found["result"])


@pytest.mark.parametrize("meta", [LISTENING, META], ids=["stream", "plain"])
async def test_a_call_whose_caller_leaves_while_it_waits_is_not_begun(
    shared, gate, cancelled, monkeypatch, meta
):
    """It waits no longer either: what it waits for may never come."""
    monkeypatch.setattr(waiting, "LOOK_S", 0.001)
    _, first = await posted()
    second = posted(meta)
    assert await asyncio.to_thread(shared.waits.wait, 20)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])
    gate.go.set()

    assert await answered(first) == {"begun": 1}
    assert await answered((await posted(meta))[1]) == {"begun": shared.in_the_end}
    assert cancelled == [("work", "wait")]


@pytest.mark.parametrize("shared", ["for its turn"], indirect=True)
async def test_nor_is_one_whose_turn_comes_before_it_has_looked(gate, cancelled, monkeypatch, shared):
    monkeypatch.setattr(waiting, "LOOK_S", 60)
    _, first = await posted()
    second = posted()
    assert await asyncio.to_thread(shared.waits.wait, 20)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.go.set()

    assert await answered(first) == {"begun": 1}
    await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])
    assert shared.begun == [1]


@pytest.mark.parametrize("shared", ["for its turn"], indirect=True)
async def test_a_call_that_waits_looks_more_than_once(shared, gate, monkeypatch):
    looks = threading.Semaphore(0)
    monkeypatch.setattr(waiting, "LOOK_S", 0.001)
    left = Chained.left

    def counted(self):
        looks.release()
        return left(self)

    monkeypatch.setattr(Chained, "left", counted)
    _, first = await posted()
    second = posted(META)
    for _ in range(3):
        assert await asyncio.to_thread(looks.acquire, timeout=20)
    gate.go.set()

    assert await answered(first) == {"begun": 1}
    assert await answered((await second)[1]) == {"begun": shared.in_the_end}
