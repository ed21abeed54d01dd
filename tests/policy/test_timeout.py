"""An attempt has its time."""

from __future__ import annotations

import asyncio
import threading
from contextlib import nullcontext

import pytest
from django.db import connections

from django_mcp import Axis, Policy, Retry, Timeout, Tool, action, errors, testing
from django_mcp.policy import timeout
from example_project.tracker.models import Project
from tests.policy.answers import Script, code, error, ok
from tests.wire import members

TIMEOUT = Policy(timeout=Timeout(5))
TOO_LONG = error(
    "shop buy took longer than 5 seconds.\nIt took too long; calling again may work.", "timeout", True
)


def test_an_attempt_in_time_is_answered(serve, clock):
    assert serve(lambda data, ctx: {"n": data["n"]}, TIMEOUT)(n=1) == ok({"n": 1})


@pytest.mark.parametrize(
    ("raised", "answered"),
    [
        (errors.PermanentError("closed"), "permanent"),
        (errors.TransientError("busy"), "transient"),
        (TimeoutError("the site's own"), "error"),
        (SystemExit(3), "error"),
    ],
)
def test_what_an_attempt_raises_in_time_is_answered_as_ever(serve, clock, raised, answered):
    assert code(serve(Script(raised), TIMEOUT)()) == answered


@pytest.fixture(params=["from a thread", "from a loop"])
def run(request):
    return testing.run_tool if request.param == "from a thread" else arun


def arun(*args, **options):
    return asyncio.run(testing.arun_tool(*args, **options))


@pytest.mark.django_db(transaction=True)
def test_an_async_handler_is_cancelled_and_rolled_back(run, clock, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    cleaned = []

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=TIMEOUT)
        async def buy(self, data, ctx):
            await Project.objects.acreate(name="p")
            clock.advance(5)
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append(True)

    with testing.served(Shop):
        assert members(run("shop", action="buy")) == TOO_LONG
    assert cleaned == [True]
    assert Project.objects.count() == 0


def test_an_async_handler_may_end_just_before_its_time(clock):
    """The bell that rings for a handler that has just ended rings for nobody."""

    async def end(data, ctx):
        clock.advance(5)
        return 1

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=TIMEOUT)
        async def buy(self, data, ctx):
            return await end(data, ctx)

    with testing.served(Shop):
        assert members(arun("shop", action="buy")) == ok(1)


class Late:
    """A sync handler that stays until it is let go."""

    def __init__(self, clock, then=lambda: None):
        self.clock = clock
        self.then = then
        self.go = threading.Event()
        self.thread = None
        self.cancelled = []
        self.ended = threading.Event()

    def __call__(self, data, ctx):
        self.thread = threading.current_thread()
        self.clock.advance(5)
        assert self.go.wait(10)
        self.cancelled.append(ctx.cancelled)
        self.then()
        return "late"

    def release(self):
        self.go.set()
        self.thread.join(10)
        assert not self.thread.is_alive()


def test_a_sync_handler_that_outlives_its_time_is_counted_and_told(serve_sync, clock, caplog):
    caplog.set_level("INFO", "django_mcp")
    late = Late(clock)
    call = serve_sync(late, TIMEOUT)

    assert call() == TOO_LONG
    assert timeout.outliving() == 1
    late.release()
    assert timeout.outliving() == 0
    # What the handler can see, so that it may stop by itself.
    assert late.cancelled == [True]
    told = [
        record.getMessage() for record in caplog.records if "late" in record.msg or "outlives" in record.msg
    ]
    assert told == [
        "shop buy outlives its time; 1 such attempts run.",
        "shop buy ended late; 0 such attempts run.",
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("raised", [None, ValueError("late")])
def test_what_a_late_sync_handler_writes_is_rolled_back(serve_sync, clock, monkeypatch, raised):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    closed = []

    def then():
        Project.objects.create(name="p")
        closed.append(connections["default"])
        if raised is not None:
            raise raised

    late = Late(clock, then)
    call = serve_sync(late, TIMEOUT)

    assert call() == TOO_LONG
    late.release()
    assert Project.objects.count() == 0
    # A connection of the thread's own, out of any transaction now.
    assert closed[0] is not connections["default"]
    assert not closed[0].in_atomic_block


@pytest.mark.django_db(transaction=True)
def test_what_a_sync_handler_writes_in_time_is_there(serve_sync, clock, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    call = serve_sync(lambda data, ctx: Project.objects.create(name="p").name, TIMEOUT)

    assert call() == ok("p")
    assert Project.objects.count() == 1


def test_a_handler_that_ended_in_time_is_answered_though_its_answer_comes_late(clock, monkeypatch):
    """Time is the handler's; once it has ended, the attempt is waited for and committed."""
    asked, expire = threading.Event(), timeout._Watch.expire

    def told(self):
        expired = expire(self)
        asked.set()
        return expired

    monkeypatch.setattr(timeout._Watch, "expire", told)

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=TIMEOUT)
        def buy(self, data, ctx):
            return {"n": 1}

        def action_context(self, action, ctx):
            clock.advance(5)
            assert asked.wait(10)
            return {"late": True}

    with testing.served(Shop):
        assert members(testing.run_tool("shop", action="buy")) == ok({"n": 1, "context": {"late": True}})


def test_a_handler_whose_time_is_over_before_it_begins_never_does(serve_sync, clock, monkeypatch):
    begun, entered, go = [], threading.Event(), threading.Event()
    threads = []

    def wait(*args):
        threads.append(threading.current_thread())
        entered.set()
        clock.advance(5)
        assert go.wait(10)
        return nullcontext()

    from django_mcp.dispatch.run import Run

    monkeypatch.setattr(Run, "_transaction", wait)
    call = serve_sync(lambda data, ctx: begun.append(1), TIMEOUT)

    assert call() == TOO_LONG
    go.set()
    threads[0].join(10)
    assert begun == []
    assert timeout.outliving() == 0


def test_with_retries_time_is_that_of_one_attempt(serve_sync, clock):
    lates = [Late(clock), Late(clock)]
    steps = iter(lates)
    policy = Policy(timeout=Timeout(5), retry=Retry(attempts=2, base_delay=0, max_delay=1))
    call = serve_sync(lambda data, ctx: next(steps)(data, ctx), policy)

    assert code(call()) == "retry_exhausted"
    for late in lates:
        late.release()


LANGUAGE = Axis("timeout_language", default="en")


def test_a_timed_attempt_sees_the_context_of_its_call(serve, clock):
    call = serve(lambda data, ctx: LANGUAGE.current(), TIMEOUT)

    with LANGUAGE.use("de"):
        assert call() == ok("de")
