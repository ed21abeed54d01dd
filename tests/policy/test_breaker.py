"""A breaker keeps calls away from what has failed too often."""

from __future__ import annotations

import asyncio
import threading

import pytest
from django.core.cache import caches
from hypothesis import given
from hypothesis import strategies as st

from django_mcp import Axis, Breaker, Policy, Retry, Tool, ToolError, action, errors, signals, testing
from django_mcp.policy.states import TENANTS, State
from tests.asking import NAME
from tests.policy.answers import Script, code, error, ok
from tests.policy.conftest import shop
from tests.wire import members

TENANT = Axis("breaker_tenant", default="none")
LOCAL = Breaker(window=4, failure_threshold=2, reset_timeout=30)
SHARED = Breaker(window=4, failure_threshold=2, reset_timeout=30, shared=True)
FAIL, OK = errors.TransientError("busy"), 1


@pytest.fixture(params=[LOCAL, SHARED], ids=["local", "shared"])
def breaker(request):
    return request.param


def policy(breaker, **links):
    return Policy(breaker=breaker, **links)


def open_for(seconds):
    return error(
        f"shop buy has failed too often just now.\nThe circuit breaker is open; wait about {seconds:.1f} seconds "
        "before you call again.",
        "circuit_open",
        True,
        retry_after_s=seconds,
    )


WAITS = error(
    "shop buy has failed too often just now.\nThe circuit breaker is open and waits for a probe; do not call again "
    "at once.",
    "circuit_open",
    True,
)


def events(heard):
    return [
        (name, fields.get("previous"), fields["state"])
        for name, fields in heard
        if name in ("breaker_changed", "breaker_rejected")
    ]


def test_it_opens_lets_a_probe_through_and_closes(serve, clock, heard, breaker):
    handle = Script(FAIL, FAIL, OK)
    call = serve(handle, policy(breaker))

    assert [code(call()), code(call())] == ["transient", "transient"]
    assert call() == open_for(30)
    clock.advance(10.25)
    assert call() == open_for(19.75)
    assert handle.calls == 2
    clock.advance(19.75)
    assert call() == ok(1)
    assert call() == ok(1)
    assert events(heard) == [
        ("breaker_changed", "closed", "open"),
        ("breaker_rejected", None, "open"),
        ("breaker_rejected", None, "open"),
        ("breaker_changed", "open", "half_open"),
        ("breaker_changed", "half_open", "closed"),
    ]
    rejected = next(fields for name, fields in heard if name == "breaker_rejected")
    facts = {"server": "default", "tool": "shop", "action": "buy", "request_id": 1}
    assert rejected == {**facts, "state": "open", "retry_after": 30}
    stopped = [fields["attempts"] for name, fields in heard if name == "tool_stopped"]
    assert stopped == [1, 1, 0, 0, 1, 1]


def test_a_probe_that_fails_opens_it_again(serve, clock, heard, breaker):
    call = serve(Script(FAIL), policy(breaker))
    call(), call()
    clock.advance(30)

    assert code(call()) == "transient"
    assert call() == open_for(30)


def test_a_closed_breaker_forgets_what_was_before(serve, clock, breaker):
    call = serve(Script(FAIL, FAIL, OK, FAIL, OK), policy(breaker))
    call(), call()
    clock.advance(30)

    assert [code(call()) for _ in range(3)] == [None, "transient", None]


def test_only_the_last_calls_count(serve, clock, breaker):
    call = serve(Script(FAIL, OK, OK, OK, FAIL, OK), policy(breaker))

    assert [code(call()) for _ in range(6)] == ["transient", None, None, None, "transient", None]


@pytest.mark.parametrize("neutral", [errors.PermanentError(), ToolError("no lamp"), ValueError("bug")])
def test_what_will_not_pass_counts_neither_way(serve, clock, breaker, neutral):
    handle = Script(FAIL, *[neutral] * 6, FAIL, neutral, OK)
    call = serve(handle, policy(breaker))
    for _ in range(8):
        call()

    assert code(call()) == "circuit_open"
    clock.advance(30)
    # It lets the next probe try.
    assert code(call()) in ("permanent", "error")
    assert call() == ok(1)


def test_a_question_to_the_user_counts_neither_way(serve, clock, breaker):
    handle = Script(FAIL, FAIL, lambda data, ctx: ctx.elicit("Who?", NAME), OK)
    call = serve(handle, policy(breaker))
    call(), call()
    clock.advance(30)

    assert "inputRequests" in call(ctx=testing.build_context(capabilities={"elicitation": {"form": {}}}))
    assert call() == ok(1)


def test_a_call_counts_once_however_often_it_was_tried(serve, clock, breaker):
    handle = Script(FAIL)
    call = serve(handle, policy(breaker, retry=Retry(attempts=5, base_delay=0, max_delay=1)))

    assert [code(call()) for _ in range(3)] == ["retry_exhausted", "retry_exhausted", "circuit_open"]
    assert handle.calls == 10


def test_one_probe_at_a_time(serve_sync, clock, breaker):
    """While a probe is under way the others are kept away, but not for ever."""
    inside, go = threading.Event(), threading.Event()

    def probe(data, ctx):
        inside.set()
        assert go.wait(10)
        return OK

    call = serve_sync(Script(FAIL, FAIL, probe, OK), policy(breaker))
    call(), call()
    clock.advance(30)
    answers = []
    first = threading.Thread(target=lambda: answers.append(call()))
    first.start()
    assert inside.wait(10)

    assert call() == WAITS
    clock.advance(30)
    assert call() == ok(1)
    go.set()
    first.join(10)
    # It was admitted before the breaker closed, so it says nothing about it now.
    assert answers == [ok(1)]


def test_each_tenant_has_a_breaker_of_its_own(serve, clock, breaker):
    call = serve(Script(FAIL), policy(breaker))
    with TENANT.use("acme"):
        call(), call()
        assert code(call()) == "circuit_open"

    with TENANT.use("beta"):
        assert code(call()) == "transient"


def test_each_tool_has_a_breaker_of_its_own(serve_sync, clock, breaker):
    other = shop(Script(FAIL), policy(breaker), name="other")
    call = serve_sync(Script(FAIL), policy(breaker), also=[other])
    call(), call()

    assert code(call("other")) == "transient"


def test_tenants_beyond_a_thousand_are_forgotten(serve_sync, clock):
    call = serve_sync(Script(FAIL), policy(LOCAL))
    with TENANT.use("first"):
        call(), call()
    for number in range(TENANTS):
        with TENANT.use(str(number)):
            call()

    with TENANT.use("first"):
        assert code(call()) == "transient"


def test_a_shared_breaker_is_that_of_every_process(serve_sync, clock):
    """A registration built anew has no memory of its own, as another process has none."""
    serve_sync(Script(FAIL), policy(SHARED))
    serve_sync.call(), serve_sync.call()

    again = serve_sync(Script(OK), policy(SHARED))
    assert code(again()) == "circuit_open"
    again = serve_sync(Script(OK), policy(LOCAL))
    assert again() == ok(1)


def test_a_shared_breaker_is_changed_by_one_at_a_time(serve_sync, clock, monkeypatch):
    cache = caches["default"]
    add, refused = cache.add, []

    def busy(key, *args, **options):
        if key.endswith(":lock") and len(refused) < 3:
            refused.append(key)
            return False
        return add(key, *args, **options)

    monkeypatch.setattr(cache, "add", busy)

    assert serve_sync(Script(OK), policy(SHARED))() == ok(1)
    assert clock.slept == [0.005] * 3


async def test_a_cancelled_call_counts_neither_way(clock, breaker):
    begun, steps = asyncio.Event(), Script(FAIL, FAIL, "wait", OK)

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=policy(breaker))
        async def buy(self, data, ctx):
            if steps(data, ctx) == "wait":
                begun.set()
                await asyncio.Event().wait()
            return OK

    with testing.served(Shop):
        for _ in range(2):
            await testing.arun_tool("shop", action="buy")
        clock.advance(30)
        probe = asyncio.create_task(testing.arun_tool("shop", action="buy"))
        await begun.wait()
        probe.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probe
        assert members(await testing.arun_tool("shop", action="buy")) == ok(1)


async def test_a_probe_that_is_cancelled_on_its_way_lets_another_through(clock, breaker):
    steps = Script(FAIL, FAIL, OK)
    loop, on_its_way, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def waits(*, state, **fields):
        if state == "half_open":
            loop.call_soon_threadsafe(on_its_way.set)
            assert go_on.wait(30)

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=policy(breaker))
        async def buy(self, data, ctx):
            return steps(data, ctx)

    with testing.served(Shop):
        for _ in range(2):
            await testing.arun_tool("shop", action="buy")
        clock.advance(30)
        signals.breaker_changed.connect(waits)
        try:
            probe = asyncio.create_task(testing.arun_tool("shop", action="buy"))
            await on_its_way.wait()
            probe.cancel()
            await asyncio.sleep(0)
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await probe
        finally:
            signals.breaker_changed.disconnect(waits)
        assert members(await testing.arun_tool("shop", action="buy")) == ok(1)


@given(st.lists(st.tuples(st.sampled_from([True, False, None]), st.integers(0, 20))), st.integers(1, 5))
def test_whatever_happens_a_breaker_admits_again_in_time(history, threshold):
    state, now = State(), 0.0
    for failed, passed in history:
        now += passed
        if state.admit(10, now) is None:
            state.settle(state.generation, failed, 5, threshold, now)
        assert len(state.outcomes) <= 5
        assert sum(state.outcomes) < threshold
        left = state.left(10, now)
        assert (left is not None) == (state.phase == "open")
        assert left is None or 0 <= left <= 10
    assert state.admit(10, now + 10) is None
