"""A stand-in is answered in the place of a failure that passes by itself."""

from __future__ import annotations

import pytest

from django_mcp import Breaker, Cache, Degradation, Policy, Retry, Tool, ToolError, action, errors, testing
from tests.policy.answers import Script, code, error, ok
from tests.wire import members


def stub(data, ctx):
    return {"sold": None, "n": data.get("n"), "tool": ctx.tool}


DEGRADES = Policy(degradation=Degradation(stub))
STANDS_IN = {"sold": None, "n": 1, "tool": "shop"}


def test_the_stub_stands_in_for_a_failure_that_passes(serve, clock, heard):
    call = serve(Script(errors.ComponentUnavailable("no printer"), 1), DEGRADES)

    assert call(n=1) == ok(STANDS_IN, source="stub", degraded=True)
    assert call(n=1) == ok(1)
    [degraded] = [fields for name, fields in heard if name == "call_degraded"]
    facts = {"server": "default", "tool": "shop", "action": "buy", "request_id": 1}
    assert degraded == {**facts, "exception": "ComponentUnavailable", "error": "no printer"}
    stopped = next(fields for name, fields in heard if name == "tool_stopped")
    assert (stopped["source"], stopped["degraded"], stopped["is_error"]) == ("stub", True, False)


@pytest.mark.parametrize(
    ("raised", "answered"),
    [(errors.PermanentError(), "permanent"), (ToolError("no lamp"), "error"), (ValueError(), "error")],
)
def test_any_other_failure_passes_through(serve, clock, raised, answered):
    assert code(serve(Script(raised), DEGRADES)()) == answered


def test_it_stands_outside_of_all_else(serve, clock):
    """What retries, breaker and cache come to is stood in for; the stand-in itself is not kept."""
    policy = Policy(
        degradation=Degradation(stub),
        cache=Cache(ttl=60),
        breaker=Breaker(window=2, failure_threshold=1, reset_timeout=30),
        retry=Retry(attempts=2, base_delay=0, max_delay=1),
    )
    handle = Script(errors.TransientError(), errors.TransientError(), 1)
    call = serve(handle, policy, read_only=True)

    assert call(n=1) == ok(STANDS_IN, source="stub", degraded=True, attempts=2)
    assert call(n=1) == ok(STANDS_IN, source="stub", degraded=True, attempts=0)
    clock.advance(30)
    assert call(n=1) == ok(1)


def test_a_stub_that_raises_is_answered_for_itself(serve, clock):
    def refuse(data, ctx):
        raise ToolError("nothing to show instead")

    call = serve(Script(errors.TransientError()), Policy(degradation=Degradation(refuse)))

    assert call() == error("Operation failed: nothing to show instead", "error", False)


def test_a_stand_in_is_proven_like_any_answer(clock):
    class Shop(Tool):
        """A shop."""

        output_schema = {"type": "object", "required": ["sold"]}

        @action(
            description="Buy", properties={}, policy=Policy(degradation=Degradation(lambda data, ctx: {}))
        )
        def buy(self, data, ctx):
            raise errors.TransientError

    with testing.served(Shop):
        result = members(testing.run_tool("shop", action="buy"))
    assert '"errorType":"output_mismatch"' in result["content"][0]["text"]
