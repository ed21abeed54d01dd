"""A call whose caller has left is not begun, and not tried again."""

from __future__ import annotations

import asyncio
import threading

import pytest

from django_mcp import Concurrency, Policy, Retry, Tool, action, errors, testing
from django_mcp.policy import clock as clocks
from django_mcp.policy.limits import Slots
from django_mcp.transports.http.view import AsyncMCPView, MCPView
from tests.transports.http.test_sse import ASGI, META, WSGI, call, cancelled, drained, events, gate, until

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


async def test_a_call_whose_caller_leaves_while_it_waits_for_its_turn_is_not_begun(
    gate, cancelled, monkeypatch
):
    begun, queued = [], threading.Event()
    ask = Slots.ask

    class Work(Tool):
        """Works."""

        @action(description="Wait", properties={}, policy=Policy(concurrency=Concurrency(limit=1)))
        def wait(self, data, ctx):
            begun.append(1)
            ctx.report_progress(1)
            gate.wait("go")
            return {"done": True}

    def asked(self):
        slot = ask(self)
        if not slot.done():
            queued.set()
        return slot

    monkeypatch.setattr(Slots, "ask", asked)
    with testing.served(Work):
        _, first = await ASGI(AsyncMCPView)._post(call("wait"), {})
        second = asyncio.create_task(ASGI(AsyncMCPView)._post(call("wait"), {}))
        assert await asyncio.to_thread(queued.wait, 20)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.go.set()
        [*_, answer] = events(await drained(first))
        await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])
    assert testing.json(answer["result"]) == {"done": True}
    assert begun == [1]
