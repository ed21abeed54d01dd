"""A cache that fails takes no call with it: breakers let calls pass, answers are not kept."""

from __future__ import annotations

import pytest
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache

from django_mcp import Breaker, Cache, Concurrency, Degradation, Policy, Retry, Timeout, errors
from tests.failing import OPERATIONS, Failing
from tests.policy.answers import Script, code, ok

BREAKER = Breaker(window=4, failure_threshold=2, reset_timeout=30, shared=True)
CACHE = Cache(ttl=60, public=True, cache_errors=True)
BUSY = errors.TransientError("busy")


@pytest.fixture
def fails(settings, monkeypatch):
    """Make operations of the cache fail: those named, and no others."""
    settings.CACHES = {"default": {"BACKEND": "tests.failing.Failing", "LOCATION": "failing"}}
    caches["default"].clear()

    def these(*operations):
        monkeypatch.setattr(Failing, "failing", frozenset(operations))

    return these


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


def said(operation, what):
    error = f"{operation} is down" + "!" * 1000
    return f"The cache 'default' fails: {what} (ConnectionError: {error[:200]}… ({len(error)} characters))"


PASSES = "the breaker of shop buy lets every call pass."
NOT_KEPT = "answers of shop buy are not kept."


@pytest.mark.parametrize(
    ("down", "first"),
    [(OPERATIONS, "add"), (["add"], "add"), (["get"], "get"), (["set"], "set"), (["delete"], "delete")],
)
def test_a_shared_breaker_lets_calls_pass(serve, clock, caplog, heard, fails, down, first):
    fails(*down)
    handle = Script(BUSY, BUSY, BUSY, 1)
    call = serve(handle, Policy(breaker=BREAKER))

    assert [code(call()) for _ in range(3)] == ["transient"] * 3
    assert call() == ok(1)
    assert handle.calls == 4
    assert {name for name, _ in heard} == {"tool_started", "tool_stopped"}
    assert lines(caplog) == [said(first, PASSES)]


def test_it_says_so_once_a_minute(serve_sync, clock, caplog, fails):
    fails(*OPERATIONS)
    call = serve_sync(Script(1), Policy(breaker=BREAKER, cache=CACHE))
    call()
    for _ in range(11):
        clock.advance(5)
        call()
    assert lines(caplog) == [said("get", NOT_KEPT), said("add", PASSES)]
    clock.advance(5)
    call()
    assert lines(caplog) == [said("get", NOT_KEPT), said("add", PASSES)] * 2


def test_a_breaker_works_again_with_its_cache(serve, clock, fails):
    fails(*OPERATIONS)
    call = serve(Script(BUSY), Policy(breaker=BREAKER))
    assert [code(call()) for _ in range(3)] == ["transient"] * 3

    fails()
    assert code(call()) == "transient"
    clock.advance(5)
    assert [code(call()) for _ in range(3)] == ["transient", "transient", "circuit_open"]


def test_a_call_whose_cache_fails_on_the_way_counts_neither_way(serve, clock, fails):
    def goes_down(data, ctx):
        fails(*OPERATIONS)
        return BUSY

    call = serve(Script(BUSY, goes_down, BUSY, 1), Policy(breaker=BREAKER))
    assert [code(call()) for _ in range(2)] == ["transient", "transient"]

    fails()
    clock.advance(5)
    assert [code(call()) for _ in range(2)] == ["transient", "circuit_open"]


def test_a_lock_that_nobody_lets_go_is_not_waited_for_without_end(serve, clock, caplog, monkeypatch, fails):
    monkeypatch.setattr(Failing, "is_locked", True)
    call = serve(Script(BUSY, BUSY, 1), Policy(breaker=BREAKER))

    assert [code(call()) for _ in range(3)] == ["transient", "transient", None]
    assert sum(clock.slept) == pytest.approx(1)
    text = "The cache 'default' fails: the breaker of shop buy lets every call pass. (TimeoutError: The lock of a "
    assert lines(caplog) == [f"{text}breaker was not free for 1 s.)"]
    clock.advance(5)
    assert call() == ok(1)
    assert sum(clock.slept) == pytest.approx(2)


@pytest.mark.parametrize("down", [OPERATIONS, ["get"], ["set"]], ids=lambda down: "+".join(down))
def test_answers_are_not_kept(serve, clock, caplog, heard, fails, down):
    fails(*down)
    call = serve(Script(1, 2, errors.PermanentError("closed")), Policy(cache=CACHE), read_only=True)

    assert [call(), call()] == [ok(1), ok(2)]
    assert code(call()) == "permanent"
    assert {name for name, _ in heard} == {"tool_started", "tool_stopped"}
    assert lines(caplog) == [said(down[0] if len(down) == 1 else "get", NOT_KEPT)]

    fails()
    clock.advance(5)
    assert code(call()) == "permanent"
    assert call()["_meta"]["django_mcp.source"] == "cache"


def test_a_cache_that_fails_is_not_asked_for_a_while(serve, clock, caplog, monkeypatch, fails):
    """It may be one that answers nothing and lets each call wait."""
    fails(*OPERATIONS)
    asked, done = [], Failing._done
    monkeypatch.setattr(
        Failing, "_done", lambda self, name, *args, **options: asked.append(name) or done(self, name, *args)
    )
    call = serve(Script(1), Policy(cache=CACHE, breaker=BREAKER), read_only=True)
    assert [call(), call()] == [ok(1), ok(1)]
    clock.advance(4.5)
    assert call() == ok(1)
    assert asked == ["get", "add"]
    clock.advance(0.5)
    assert call() == ok(1)
    assert asked == ["get", "add"] * 2


def test_an_answer_that_cannot_be_kept_keeps_no_other_from_it(serve, clock, caplog, fails):
    """A cache may refuse what is too large for it."""
    fails("set")
    call = serve(Script(1, 2, 3), Policy(cache=CACHE), read_only=True)
    assert call() == ok(1)

    fails()
    assert [call(), call()] == [ok(2), ok(2, source="cache", attempts=0)]
    assert lines(caplog) == [said("set", NOT_KEPT)]


@pytest.mark.parametrize("kept", [b"{}", b'{"content":[],"of_another_version":1}', b"no JSON"])
def test_a_kept_answer_that_cannot_be_read_is_made_anew(serve, clock, caplog, monkeypatch, kept):
    cache = caches["default"]
    monkeypatch.setattr(
        cache, "set", lambda key, value, timeout: LocMemCache.set(cache, key, (value[0], kept))
    )
    call = serve(Script(1, 2, 3), Policy(cache=CACHE), read_only=True)
    assert call() == ok(1)
    monkeypatch.undo()

    assert call() == ok(2)
    assert call() == ok(2, source="cache", attempts=0)
    assert len(lines(caplog)) == 1


def test_the_other_links_ask_no_cache(serve, clock, caplog, fails):
    fails(*OPERATIONS)
    policy = Policy(
        degradation=Degradation(lambda data, ctx: "stub"),
        concurrency=Concurrency(limit=2, per_axis=1),
        retry=Retry(attempts=2, base_delay=0, max_delay=1),
        timeout=Timeout(60),
    )
    call = serve(Script(BUSY, 1, BUSY), policy)

    assert call() == ok(1, attempts=2)
    assert call() == ok("stub", source="stub", degraded=True, attempts=2)
    assert lines(caplog) == []
