"""A repeated call is answered from the cache."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
from django.contrib.auth.models import User
from django.utils import timezone, translation

from django_mcp import Axis, Cache, Hint, Policy, Reply, Tool, ToolError, action, errors, testing
from django_mcp.policy.cache import CacheLink
from tests.asking import NAME
from tests.policy.answers import Script, code, error, ok
from tests.wire import members

TENANT = Axis("cache_tenant", default="none")
CACHE = Policy(cache=Cache(ttl=60))
PUBLIC = Policy(cache=Cache(ttl=60, public=True))
READ = {"read_only": True}


class Count:
    """A handler that answers how often it was called."""

    def __init__(self):
        self.calls = 0

    def __call__(self, data, ctx):
        self.calls += 1
        return self.calls


def test_the_same_call_is_answered_again_until_its_time_is_over(serve, clock, heard):
    call = serve(Count(), CACHE, **READ)

    assert call(n=1) == ok(1)
    assert call(n=1) == ok(1, source="cache", attempts=0)
    assert call(n=2) == ok(2)
    clock.advance(59.5)
    assert call(n=1) == ok(1, source="cache", attempts=0)
    clock.advance(0.5)
    assert call(n=1) == ok(3)
    stopped = [fields for name, fields in heard if name == "tool_stopped"]
    assert [(one["source"], one["attempts"]) for one in stopped[:2]] == [("live", 1), ("cache", 0)]


def test_calls_that_mean_the_same_are_the_same(serve, clock):
    call = serve(Count(), CACHE, defaults={"m": 7}, **READ)

    assert call(n={"a": [{"x": 1, "y": 2}], "b": 3}) == ok(1)
    same = {"b": 3, "a": [{"y": 2, "x": 1}]}
    assert call(m=7, n=same) == ok(1, source="cache", attempts=0)
    assert call(m=8, n=same) == ok(2)


def test_an_answer_is_kept_whole(serve, clock):
    def handle(data, ctx):
        return ctx.text("Grüezi") + ctx.image("aW1n", "image/png")

    call = serve(handle, CACHE, **READ)

    first, again = call(), call()
    assert first["content"] == again["content"] != []
    assert again["_meta"]["django_mcp.source"] == "cache"


def test_structured_content_is_kept_and_exact(clock):
    class Shop(Tool):
        """A shop."""

        output_schema = {"type": "object"}

        @action(description="Buy", properties={}, policy=CACHE, read_only=True)
        def buy(self, data, ctx):
            return {"n": 10**30}

    with testing.served(Shop):
        first, again = (members(testing.run_tool("shop", action="buy")) for _ in range(2))
    assert first["structuredContent"] == again["structuredContent"] == {"n": 10**30}


def users():
    return [testing.build_context(user=user) for user in (None, User(pk=1), User(pk=2))]


def test_an_answer_is_kept_for_its_caller(serve, clock):
    call = serve(Count(), CACHE, **READ)

    assert [call(ctx=ctx)["content"][0]["text"] for ctx in [*users(), *users()]] == list("123123")


def test_a_public_answer_is_kept_for_all(serve, clock):
    call = serve(Count(), PUBLIC, **READ)
    with TENANT.use("acme"):
        assert [code(call(ctx=ctx)) for ctx in users()] == [None] * 3

    assert call() == ok(1, source="cache", attempts=0)


def test_a_public_answer_names_nothing_that_its_caller_does_not_see(clock):
    class Staff(Tool):
        """For the staff."""

        @action(description="Wipe", properties={}, permission=lambda ctx: not ctx.user.is_anonymous)
        def wipe(self, data, ctx):
            return 1

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=Policy(cache=Cache(ttl=60, public=True)))
        def buy(self, data, ctx):
            return Reply({"bought": 1}, hint_context={})

        def hints(self, action, hint_context):
            return [Hint(tool="staff", action="wipe", description="Wipe", example={})]

    ada, nobody = testing.build_context(user=User(pk=1)), testing.build_context()
    with testing.served(Shop, Staff):
        answers = [testing.run_tool("shop", action="buy", ctx=ctx) for ctx in (ada, nobody, ada, nobody)]

    assert ["hints" in testing.json(answer) for answer in answers] == [True, False, True, False]
    sources = [answer["_meta"]["django_mcp.source"] for answer in answers]
    assert sources == ["live", "live", "cache", "cache"]


def test_an_answer_never_crosses_tenants(serve, clock):
    call = serve(Count(), CACHE, **READ)
    seen = {}
    for tenant in ("acme", "beta", "acme"):
        with TENANT.use(tenant):
            seen.setdefault(tenant, []).append(call()["content"][0]["text"])

    assert seen == {"acme": ["1", "1"], "beta": ["2"]}
    # To be bound to the default is to be at the default.
    assert call() == ok(3)
    with TENANT.use("none"):
        assert call() == ok(3, source="cache", attempts=0)


def test_an_answer_is_kept_by_language_and_time_zone(serve_sync, clock):
    call = serve_sync(Count(), CACHE, **READ)
    assert call() == ok(1)
    with translation.override("de"):
        assert call() == ok(2)
    with timezone.override("Asia/Tokyo"):
        assert call() == ok(3)

    assert call() == ok(1, source="cache", attempts=0)


def test_an_answer_is_kept_for_what_the_user_said(serve, clock):
    call = serve(lambda data, ctx: ctx.elicit("Who?", NAME, key="who").content, CACHE, **READ)

    said = [call(answers={"who": {"name": name}})["content"][0]["text"] for name in ("Ada", "Bob", "Ada")]
    assert said == ['{"name":"Ada"}', '{"name":"Bob"}', '{"name":"Ada"}']


@pytest.mark.parametrize(
    "raised", [errors.PermanentError("x"), ToolError("x"), errors.TransientError(), ValueError()]
)
def test_errors_are_not_kept(serve, clock, raised):
    handle = Script(raised, 1)
    call = serve(handle, CACHE, **READ)

    assert code(call()) is not None
    assert call() == ok(1)


def test_errors_the_tool_means_are_kept_where_asked_for(serve, clock):
    policy = Policy(cache=Cache(ttl=60, cache_errors=True))
    handle = Script(ToolError("no lamp"))
    call = serve(handle, policy, **READ)

    assert call() == error("Operation failed: no lamp", "error", False)
    kept = {"source": "cache", "degraded": False, "attempts": 0}
    assert call() == error("Operation failed: no lamp", "error", False, **kept)
    handle = Script(errors.PermanentError("closed"))
    call = serve(handle, policy, **READ)
    texts = {call(n=1)["content"][0]["text"] for _ in range(2)}
    assert texts == {"closed\nDo not repeat the call with the same arguments."}
    assert handle.calls == 1


@pytest.mark.parametrize("raised", [errors.TransientError("busy"), ValueError("bug")])
def test_what_may_pass_and_what_is_a_fault_is_never_kept(serve, clock, raised):
    call = serve(Script(raised, 1), Policy(cache=Cache(ttl=60, cache_errors=True)), **READ)

    assert code(call()) is not None
    assert call() == ok(1)


class Gate:
    """A handler that several callers meet at: it answers once it is let go."""

    def __init__(self, outcome=1):
        self.calls = 0
        self.inside, self.go = threading.Event(), threading.Event()
        self.outcome = outcome

    def __call__(self, data, ctx):
        self.calls += 1
        self.inside.set()
        assert self.go.wait(10)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.fixture
def waiting(monkeypatch):
    """Released by every call that waits for the answer of another."""
    semaphore, join = threading.Semaphore(0), CacheLink._join

    def told(self, key):
        flight, leads = join(self, key)
        if not leads:
            semaphore.release()
        return flight, leads

    monkeypatch.setattr(CacheLink, "_join", told)
    return semaphore


@pytest.mark.parametrize("outcome", [1, ToolError("no lamp")])
def test_of_calls_that_come_at_once_one_runs(serve_sync, clock, monkeypatch, outcome):
    from django_mcp.policy.cache import CacheLink

    gate, joined = Gate(outcome), threading.Semaphore(0)
    join = CacheLink._join

    def counted(self, key):
        found = join(self, key)
        joined.release()
        return found

    monkeypatch.setattr(CacheLink, "_join", counted)
    call = serve_sync(gate, CACHE, **READ)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(call())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert joined.acquire(timeout=10)
    gate.go.set()
    for thread in threads:
        thread.join(10)

    assert gate.calls == 1
    if outcome == 1:
        sources = sorted(answer["_meta"]["django_mcp.source"] for answer in answers)
        assert sources == ["cache", "cache", "cache", "live"]
    else:
        assert answers == [error("Operation failed: no lamp", "error", False)] * 4


async def test_of_async_calls_that_come_at_once_one_runs(clock, waiting):
    begun, go, calls = asyncio.Event(), asyncio.Event(), []

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=CACHE, read_only=True)
        async def buy(self, data, ctx):
            calls.append(1)
            begun.set()
            await go.wait()
            return 1

    async def follow():
        return members(await testing.arun_tool("shop", action="buy"))

    with testing.served(Shop):
        leader = asyncio.create_task(follow())
        await begun.wait()
        follower = asyncio.create_task(follow())
        assert await asyncio.to_thread(waiting.acquire, timeout=10)
        go.set()
        assert (await leader, calls) == (ok(1), [1])
        assert await follower == ok(1, source="cache", attempts=0)


async def test_a_cancelled_call_lets_another_run(clock, waiting):
    begun, calls = asyncio.Event(), []

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=CACHE, read_only=True)
        async def buy(self, data, ctx):
            calls.append(1)
            begun.set()
            if len(calls) == 1:
                await asyncio.Event().wait()
            return len(calls)

    with testing.served(Shop):
        leader = asyncio.create_task(testing.arun_tool("shop", action="buy"))
        await begun.wait()
        follower = asyncio.create_task(testing.arun_tool("shop", action="buy"))
        gone = asyncio.create_task(testing.arun_tool("shop", action="buy"))
        for _ in range(2):
            assert await asyncio.to_thread(waiting.acquire, timeout=10)
        gone.cancel()
        leader.cancel()
        assert members(await follower) == ok(2)
        for task in (leader, gone):
            with pytest.raises(asyncio.CancelledError):
                await task
        assert members(await testing.arun_tool("shop", action="buy")) == ok(2, source="cache", attempts=0)


async def test_whoever_waited_for_a_call_that_was_cancelled_runs_itself(clock, monkeypatch):
    """The same at the one moment that counts, however the tasks are scheduled."""

    class Shop(Tool):
        """A shop."""

        @action(description="Buy", properties={}, policy=CACHE, read_only=True)
        async def buy(self, data, ctx):
            return 1

    gone: Future = Future()
    gone.set_result(asyncio.CancelledError())
    flights = [(gone, False)]
    join = CacheLink._join
    monkeypatch.setattr(CacheLink, "_join", lambda self, key: flights.pop() if flights else join(self, key))
    with testing.served(Shop):
        assert members(await testing.arun_tool("shop", action="buy")) == ok(1)
    assert flights == []


def test_a_thread_whose_leader_asks_its_user_runs_itself(serve_sync, clock, monkeypatch):
    from django_mcp.policy.cache import CacheLink

    inside, go = threading.Event(), threading.Event()
    waiting = threading.Event()
    landed = CacheLink._landed
    join = CacheLink._join

    def watched(self, key):
        found = join(self, key)
        if not found[1]:
            waiting.set()
        return found

    monkeypatch.setattr(CacheLink, "_join", watched)
    ends = []

    def seen(self, call, outcome):
        ends.append(type(outcome).__name__)
        return landed(self, call, outcome)

    monkeypatch.setattr(CacheLink, "_landed", seen)

    def ask(data, ctx):
        inside.set()
        assert go.wait(10)
        return ctx.elicit("Who?", NAME)

    call = serve_sync(Script(ask, 1), CACHE, **READ)
    ctx = testing.build_context(capabilities={"elicitation": {"form": {}}})
    answers = []
    leader = threading.Thread(target=lambda: answers.append(call(ctx=ctx)))
    leader.start()
    assert inside.wait(10)
    follower = threading.Thread(target=lambda: answers.append(call(ctx=ctx)))
    follower.start()
    assert waiting.wait(10)
    go.set()
    leader.join(10)
    follower.join(10)

    assert ends == ["InputRequired"]
    assert ok(1) in answers
    assert any("inputRequests" in answer for answer in answers)
