"""A request that goes away in the middle leaves nothing half done."""

from __future__ import annotations

import asyncio
import threading

import pytest
from django.db import connections

from django_mcp import Reply, Tool, action, testing
from django_mcp.dispatch.threads import in_thread
from example_project.tracker.models import Project


@pytest.mark.django_db(transaction=True)
async def test_a_cancelled_async_handler_is_rolled_back_and_cleans_up(monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    begun, cleaned = asyncio.Event(), []

    class Slow(Tool):
        """Slow."""

        @action(description="Write and wait", properties={})
        async def wait(self, data, ctx):
            await Project.objects.acreate(name="p")
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append(True)

    with testing.served(Slow):
        call = asyncio.create_task(testing.arun_tool("slow", {"action": "wait"}))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert cleaned == [True]
    assert await Project.objects.acount() == 0


async def test_a_step_in_the_thread_is_not_abandoned_half_way():
    entered, leave, done = threading.Event(), threading.Event(), []

    def step():
        entered.set()
        assert leave.wait(10)
        done.append(True)

    waiting = asyncio.create_task(in_thread(step))
    assert await asyncio.to_thread(entered.wait, 10)
    waiting.cancel()
    await asyncio.sleep(0)
    leave.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == [True]


class TestWhatIsComplete:
    """The transaction of a call is not given up, nor is its time over, once it is about to be committed."""

    @pytest.fixture
    def slow(self, monkeypatch):
        monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
        entered, leave = threading.Event(), threading.Event()

        class Slow(Tool):
            """Slow to finish."""

            @action(description="Write", properties={})
            async def write(self, data, ctx):
                await Project.objects.acreate(name="p")
                return Reply({"done": True}, hint_context={})

            @action(description="Write in time", properties={}, timeout=60)
            async def limited(self, data, ctx):
                await Project.objects.acreate(name="p")
                return Reply({"done": True}, hint_context={})

            def hints(self, action, hint_context):
                entered.set()
                assert leave.wait(10)
                return []

        with testing.served(Slow):
            yield entered, leave

    @pytest.mark.django_db(transaction=True)
    async def test_counts_though_the_request_is_cancelled(self, slow):
        entered, leave = slow
        call = asyncio.create_task(testing.arun_tool("slow", {"action": "write"}))
        assert await asyncio.to_thread(entered.wait, 10)
        for _ in range(2):
            call.cancel()
            await asyncio.sleep(0)
        leave.set()
        assert testing.json(await call) == {"done": True}
        assert await Project.objects.acount() == 1

    @pytest.mark.django_db(transaction=True)
    async def test_counts_though_its_time_is_over(self, slow, monkeypatch):
        entered, leave = slow
        scopes, timeout = [], asyncio.timeout

        def remembered(seconds):
            scopes.append(timeout(seconds))
            return scopes[-1]

        monkeypatch.setattr(asyncio, "timeout", remembered)
        call = asyncio.create_task(testing.arun_tool("slow", {"action": "limited"}))
        assert await asyncio.to_thread(entered.wait, 10)
        [scope] = scopes
        scope.reschedule(asyncio.get_running_loop().time() - 1)
        await asyncio.sleep(0)
        assert scope.expired()
        leave.set()
        assert testing.json(await call) == {"done": True}
        assert await Project.objects.acount() == 1
