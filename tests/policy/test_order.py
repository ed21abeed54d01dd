"""The links stand in one order, however they are written: what each one comes to, the next one outside sees."""

from __future__ import annotations

import pytest

from django_mcp import Breaker, Cache, Concurrency, Degradation, Policy, Retry, Timeout, errors, testing
from django_mcp.policy.limits import ConcurrencyLink
from django_mcp.registry.catalog import catalog
from tests.policy.answers import Script, code, error, ok

BREAKER = Breaker(window=2, failure_threshold=1, reset_timeout=30)
CACHE = Cache(ttl=60)
ONE = Concurrency(limit=1)
FAIL = errors.TransientError("busy")


def links():
    """What a call of the shop passes, from the outside."""
    step, found = catalog("default").by_name["shop"].actions["buy"].chain.run, []
    while hasattr(step.func, "__self__"):
        found.append(step.func.__self__)
        step = step.args[0]
    # The innermost step counts, around what bounds an attempt.
    return [*found, *(one.__self__ for one in step.args if hasattr(one, "__self__"))]


def test_it_is_that_of_the_documentation(serve_sync):
    serve_sync(
        Script(1),
        Policy(
            timeout=Timeout(5),
            retry=Retry(attempts=2, base_delay=0, max_delay=1),
            breaker=BREAKER,
            cache=CACHE,
            concurrency=ONE,
            degradation=Degradation(lambda data, ctx: "stub"),
        ),
        read_only=True,
    )

    assert [type(link).__name__.removesuffix("Link") for link in links()] == [
        "Degradation",
        "Concurrency",
        "Cache",
        "Breaker",
        "Retry",
        "Timeout",
    ]


def test_a_kept_answer_is_given_while_the_breaker_is_open(serve, clock, heard):
    call = serve(Script(1, FAIL), Policy(cache=CACHE, breaker=BREAKER), read_only=True)

    assert call(n=1) == ok(1)
    assert code(call(n=2)) == "transient"
    assert code(call(n=3)) == "circuit_open"
    heard.clear()
    assert call(n=1) == ok(1, source="cache", attempts=0)
    assert [name for name, _ in heard] == ["tool_started", "tool_stopped"]


TOO_LATE = error(
    "The time of the call was over before it was its turn.\nIt took too long; calling again may work.",
    "timeout",
    True,
)


@pytest.fixture
def taken():
    """Take the one place there is."""
    held = []

    def take():
        [link] = [link for link in links() if isinstance(link, ConcurrencyLink)]
        link._all.ask()
        held.append(link._all)

    yield take
    for slots in held:
        slots.give_back()


@pytest.mark.parametrize("serve", ["async def from a thread", "async def from a loop"], indirect=True)
class TestAPlace:
    """The time of a call is waited for where there is no place; only an async handler has one."""

    def test_a_kept_answer_takes_one_too(self, serve, taken, settings):
        call = serve(Script(1), Policy(cache=CACHE, concurrency=ONE), read_only=True)
        assert call() == ok(1)
        assert call() == ok(1, source="cache", attempts=0)
        settings.DJANGO_MCP = {"CALL_TIMEOUT": 0.001}
        taken()

        assert call() == TOO_LATE

    def test_a_stand_in_takes_none(self, serve, taken):
        policy = Policy(concurrency=ONE, degradation=Degradation(lambda data, ctx: "stub"))
        call = serve(Script(1), policy, timeout=0.001)
        taken()

        assert call() == ok("stub", source="stub", degraded=True, attempts=0)
        assert testing.json(call()) == "stub"
