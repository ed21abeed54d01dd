"""So many calls at once, and no more."""

from __future__ import annotations

import asyncio
import threading

import pytest
from asgiref.sync import async_to_sync

from django_mcp import Axis, Concurrency, Policy, Tool, action, errors, testing
from django_mcp.policy.limits import Slots
from django_mcp.registry.catalog import catalog
from tests.policy.answers import Script, code, error, ok
from tests.wire import members

TENANT = Axis("limits_tenant", default="none")


class Room:
    """A handler that counts who is inside and holds them until they are let go."""

    def __init__(self):
        self.inside = self.most = 0
        self.tenants = []
        self.entered, self.leave = threading.Semaphore(0), threading.Semaphore(0)
        self._lock = threading.Lock()

    def __call__(self, data, ctx):
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.tenants.append(TENANT.current())
        self.entered.release()
        assert self.leave.acquire(timeout=10)
        with self._lock:
            self.inside -= 1
        return 1


@pytest.fixture
def asked(monkeypatch):
    """Released by every call that asks for a slot."""
    semaphore, ask = threading.Semaphore(0), Slots.ask

    def told(self):
        slot = ask(self)
        semaphore.release()
        return slot

    monkeypatch.setattr(Slots, "ask", told)
    return semaphore


def calling(call, tenant):
    answers = []

    def run():
        with TENANT.use(tenant):
            answers.append(call())

    thread = threading.Thread(target=run)
    thread.start()
    return thread, answers


def test_no_more_calls_run_at_once_than_the_limit(serve_sync, asked):
    room = Room()
    call = serve_sync(room, Policy(concurrency=Concurrency(limit=2)))
    started = [calling(call, "acme") for _ in range(5)]
    for _ in started:
        assert asked.acquire(timeout=10)
    for _ in range(2):
        assert room.entered.acquire(timeout=10)
    assert room.inside == 2
    for _ in started:
        room.leave.release()
    for thread, answers in started:
        thread.join(10)
        assert answers == [ok(1)]

    assert room.most == 2


def test_a_tenant_gets_its_share_and_delays_no_other(serve_sync, asked):
    room = Room()
    call = serve_sync(room, Policy(concurrency=Concurrency(limit=2, per_axis=1)))
    started = [calling(call, "acme") for _ in range(3)]
    assert room.entered.acquire(timeout=10)
    for _ in range(4):  # one took a slot of its own and one of all, two wait for the first
        assert asked.acquire(timeout=10)
    started.append(calling(call, "beta"))
    assert room.entered.acquire(timeout=10)

    assert room.tenants == ["acme", "beta"]
    for _ in started:
        room.leave.release()
    for thread, answers in started:
        thread.join(10)
        assert answers == [ok(1)]
    assert room.most == 2


def test_a_slot_comes_back_from_a_call_that_fails(serve):
    call = serve(
        Script(errors.TransientError(), ValueError(), SystemExit(), 1),
        Policy(concurrency=Concurrency(limit=1)),
    )

    assert [code(call()) for _ in range(4)] == ["transient", "error", "error", None]


@pytest.mark.parametrize("per_axis", [None, 1])
async def test_async_calls_wait_their_turn_and_may_stop_waiting(per_axis, asked):
    running, go, most = [], asyncio.Event(), []

    class Shop(Tool):
        """A shop."""

        @action(
            description="Buy",
            properties={},
            policy=Policy(concurrency=Concurrency(limit=1, per_axis=per_axis)),
        )
        async def buy(self, data, ctx):
            running.append(1)
            most.append(len(running))
            await go.wait()
            running.pop()
            return 1

    async def call():
        return members(await testing.arun_tool("shop", action="buy"))

    with testing.served(Shop):
        calls = [asyncio.create_task(call()) for _ in range(4)]
        # The first takes every slot it wants, the others wait for theirs.
        for _ in range(4 if per_axis is None else 5):
            assert await asyncio.to_thread(asked.acquire, timeout=10)
        calls[1].cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await calls[1]
        assert [await one for one in (calls[0], *calls[2:])] == [ok(1)] * 3
        assert await call() == ok(1)
    assert max(most) == 1


@pytest.mark.parametrize("way", [testing.run_tool, async_to_sync(testing.arun_tool)], ids=["thread", "loop"])
def test_a_call_waits_no_longer_than_it_has_time(way):
    """The slot is held by whoever asks for it a second time, from within."""
    policy = Policy(concurrency=Concurrency(limit=1))

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=policy, timeout=0.001)
        async def buy(self, data, ctx):
            return 1

    with testing.served(Shop):
        chain = catalog("default").by_name["shop"].actions["buy"].chain
        link = chain.run.func.__self__
        link._all.ask()
        result = members(way("shop", action="buy"))
        link._all.give_back()
        assert result == error(
            "The time of the call was over before it was its turn.\nIt took too long; calling again may work.",
            "timeout",
            True,
        )


async def test_a_slot_given_to_one_who_just_went_away_is_given_on():
    from django_mcp.policy.limits import _await

    slots = Slots(1)
    held = slots.ask()
    assert held.done()
    waiting = asyncio.create_task(_await(slots, None))
    await asyncio.sleep(0)
    slots.give_back()  # to the one who waits
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert slots.ask().done()


def test_who_stopped_waiting_is_passed_over():
    slots = Slots(1)
    slots.ask()
    gone, next_one = slots.ask(), slots.ask()
    gone.cancel()
    slots.give_back()

    assert next_one.done()
    slots.give_back()
    assert slots.ask().done()
