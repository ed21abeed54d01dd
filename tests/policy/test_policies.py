"""A policy in code, what the settings lay over it, and what is told of a wrong one."""

from __future__ import annotations

import pytest

from django_mcp import (
    BaseTool,
    Breaker,
    Cache,
    Concurrency,
    Degradation,
    Policy,
    Retry,
    Timeout,
    Tool,
    action,
    errors,
    testing,
)
from django_mcp import tool as typed_tool
from django_mcp.authoring import declare
from django_mcp.registry.catalog import catalog, findings
from tests.policy.answers import Script, code, ok
from tests.policy.conftest import shop
from tests.wire import members


@pytest.fixture(autouse=True)
def nothing_declared():
    """A typed function is registered where it is declared."""
    with declare.replaced([]):
        yield


RETRY = Retry(attempts=3, base_delay=1, max_delay=3, jitter=False)


def told(*tools):
    """Rule, message, fix of every offence."""
    with testing.served(*tools):
        return [(one.offence.rule, one.message, one.offence.fix) for one in findings()]


def steps(handle=None, **options):
    return shop(handle or Script(1), options.pop("policy", None), **options)


class Both(Tool):
    """Two actions."""

    @action(description="Buy", properties={}, policy=Policy(retry=RETRY))
    def buy(self, data, ctx):
        raise errors.TransientError("busy")

    @action(description="Sell", properties={})
    def sell(self, data, ctx):
        raise errors.TransientError("busy")


def attempts(settings, clock, policies, name="buy"):
    settings.DJANGO_MCP = {"POLICIES": policies}
    with testing.served(Both):
        result = testing.run_tool("both", action=name)
    return result["_meta"].get("django_mcp.attempts"), clock.slept


FIVE = {"retry": {"attempts": 5, "base_delay": 2, "max_delay": 2, "jitter": False}}


@pytest.mark.parametrize(
    ("policies", "action", "expected"),
    [
        ({}, "buy", (3, [1, 2])),
        ({}, "sell", (None, [])),
        ({"*": FIVE}, "sell", (5, [2] * 4)),
        ({"both": FIVE}, "sell", (5, [2] * 4)),
        ({"both.sell": FIVE}, "sell", (5, [2] * 4)),
        ({"both.sell": FIVE}, "buy", (3, [1, 2])),
        ({"both": {"retry": {"attempts": 2}}}, "buy", (2, [1])),
        ({"both": {"retry": None}}, "buy", (None, [])),
        # An action beats a tool, a name beats a pattern, a longer pattern a shorter one.
        ({"both.*": {"retry": {"attempts": 2}}, "both": FIVE}, "buy", (2, [2])),
        ({"both.buy": {"retry": {"attempts": 2}}, "both.*": FIVE}, "buy", (2, [2])),
        ({"bot*": {"retry": {"attempts": 2}}, "*": FIVE}, "buy", (2, [2])),
        # A part lies over what the code has and makes no link of its own; parts may make one together.
        ({"both": {"retry": {"attempts": 2}}}, "sell", (None, [])),
        (
            {
                "*": {"retry": {"attempts": 2}},
                "both": {"retry": {"base_delay": 1, "max_delay": 1, "jitter": False}},
            },
            "sell",
            (2, [1]),
        ),
        # Of equals the later one wins, field by field.
        ({"b*h": {"retry": {"attempts": 2}}, "bo*": {"retry": {"max_delay": 1}}}, "buy", (2, [1])),
        ({"b*h": {"retry": {"attempts": 2}}, "bo*": {"retry": {"attempts": 4}}}, "buy", (4, [1, 2, 3])),
        ({"*": FIVE, "both": {"retry": None}, "both.buy": FIVE}, "buy", (5, [2] * 4)),
    ],
)
def test_settings_lie_over_the_code_field_by_field(settings, clock, policies, action, expected):
    assert attempts(settings, clock, policies, action) == expected


def test_a_stub_in_the_settings_is_a_dotted_path(settings, clock):
    settings.DJANGO_MCP = {"POLICIES": {"shop": {"degradation": {"stub": f"{__name__}.stub"}}}}
    with testing.served(steps(Script(errors.TransientError()))):
        assert members(testing.run_tool("shop", action="buy")) == ok("stub", source="stub", degraded=True)


def stub(data, ctx):
    return "stub"


def test_a_hand_written_tool_has_a_policy_among_its_options(clock):
    class Plain(BaseTool):
        """A plain tool."""

        input_schema = {"type": "object", "properties": {}}
        options = {"policy": Policy(retry=RETRY, cache=Cache(ttl=60)), "read_only": True}
        handle = Script(errors.TransientError(), 1)

        def run(self, arguments, ctx):
            return self.handle(arguments, ctx)

    with testing.served(Plain):
        assert members(testing.run_tool("plain", {"n": 1})) == ok(1, attempts=2)
        assert members(testing.run_tool("plain", {"n": 1})) == ok(1, source="cache", attempts=0)


def test_a_typed_tool_has_a_policy(clock):
    calls = []

    @typed_tool(name="double", policy=Policy(retry=RETRY, cache=Cache(ttl=60)), read_only=True)
    def double(n: int, by: int = 2) -> int:
        """Double."""
        calls.append(n)
        if len(calls) == 1:
            raise errors.TransientError
        return n * by

    meta = []
    with testing.served(double):
        for arguments in ({"n": 2}, {"n": 2, "by": 2}, {"by": 3, "n": 2}):
            result = members(testing.run_tool("double", arguments))
            meta.append((result["structuredContent"], result["_meta"]["django_mcp.source"]))
    assert meta == [({"result": 4}, "live"), ({"result": 4}, "cache"), ({"result": 6}, "live")]


def test_the_settings_of_one_tool_never_affect_another(clock):
    """Two tools of one kind of policy and different numbers, in either order."""
    patient = shop(Script(errors.TransientError()), Policy(retry=RETRY), name="patient")
    eager = shop(
        Script(errors.TransientError()),
        Policy(retry=Retry(attempts=2, base_delay=0, max_delay=1)),
        name="eager",
    )
    with testing.served(patient, eager):
        seen = [
            testing.run_tool(name, action="buy")["_meta"]["django_mcp.attempts"]
            for name in ("patient", "eager", "patient")
        ]
    assert seen == [3, 2, 3]


def test_a_tool_without_a_policy_has_no_chain(settings):
    """Nothing stands between the call and its handler, so nothing costs anything."""
    settings.DJANGO_MCP = {"POLICIES": {"shop": {"retry": None}}}
    empty = shop(Script(1), Policy(), name="empty")
    with testing.served(steps(), empty):
        served = catalog("default")
        assert served.by_name["shop"].actions["buy"].chain is None
        assert served.by_name["empty"].actions["buy"].chain is None
        assert members(testing.run_tool("shop", action="buy"))["content"] == ok(1)["content"]


ADD = "Write policy=Policy(retry=Retry(...), timeout=Timeout(...), ...)."


@pytest.mark.parametrize(
    ("policy", "rule", "text", "fix"),
    [
        ("retry", "policy-type", "policy is retry, not a Policy", ADD),
        (
            Policy(retry={"attempts": 3}),
            "policy-type",
            "policy.retry is {'attempts': 3}, not a Retry",
            "Write retry=Retry(...).",
        ),
        (
            Policy(timeout=Timeout(0)),
            "policy-value",
            "policy.timeout.seconds is 0, not a number above 0",
            "Write a number above 0.",
        ),
        (
            Policy(timeout=Timeout(float("inf"))),
            "policy-value",
            "policy.timeout.seconds is inf, not a number above 0",
            "Write a number above 0.",
        ),
        (
            Policy(retry=Retry(attempts=1, base_delay=-1, max_delay=1)),
            "policy-value",
            "policy.retry.base_delay is -1, not a number of at least 0",
            "Write a number of at least 0.",
        ),
        (
            Policy(timeout=Timeout("5")),
            "policy-value",
            "policy.timeout.seconds is '5', not a number above 0",
            "Write a number above 0.",
        ),
        (
            Policy(retry=Retry(attempts=1, base_delay=3, max_delay=2)),
            "policy-combination",
            "policy.retry has base_delay 3, which is more than its max_delay 2",
            "Make base_delay at most max_delay.",
        ),
        (
            Policy(breaker=Breaker(window=2, failure_threshold=3, reset_timeout=1)),
            "policy-combination",
            "policy.breaker has failure_threshold 3, which is more than its window 2",
            "Make failure_threshold at most window.",
        ),
        (
            Policy(concurrency=Concurrency(limit=1, per_axis=2)),
            "policy-combination",
            "policy.concurrency has per_axis 2, which is more than its limit 1",
            "Make per_axis at most limit.",
        ),
        (
            Policy(degradation=Degradation("stub")),
            "policy-stub",
            "policy.degradation.stub is stub, not a function",
            "Write the stub as a plain def stub(data, ctx).",
        ),
        (
            Policy(degradation=Degradation(lambda ctx: 1)),
            "policy-stub",
            "policy.degradation.stub cannot be called with data and ctx: too many positional arguments",
            "Write the stub as a plain def stub(data, ctx).",
        ),
    ],
)
def test_a_wrong_policy_in_code_is_told(policy, rule, text, fix):
    assert told(steps(policy=policy)) == [(rule, f"shop: Action buy: {text}.", fix)]


def test_an_async_stub_is_told():
    async def late(data, ctx):
        return 1

    [(rule, message, _)] = told(steps(policy=Policy(degradation=Degradation(late))))
    assert rule == "policy-stub"
    assert message == (
        "shop: Action buy: policy.degradation.stub is async def; what stands in for a failure waits for nothing."
    )


def test_a_hand_written_and_a_typed_tool_are_told_alike():
    class Plain(BaseTool):
        """A plain tool."""

        input_schema = {"type": "object", "properties": {}}
        options = {"policy": Policy(timeout=Timeout(0))}

        def run(self, arguments, ctx):
            return 1

    @typed_tool(name="typed", policy=Policy(timeout=Timeout(0)))
    def typed() -> int:
        """Typed."""
        return 1

    text = "policy.timeout.seconds is 0, not a number above 0."
    assert [message for _, message, _ in told(Plain, typed)] == [f"plain: {text}", f"typed: {text}"]


WRONG = "tests.policy.test_policies.nothing"


@pytest.mark.parametrize(
    ("policies", "rule", "message"),
    [
        (
            {"shop": {"retrys": {}}},
            "setting-unknown",
            'DJANGO_MCP["POLICIES"]["shop"] has the unknown key retrys.',
        ),
        (
            {"shop": {"retry": {"attempt": 1}}},
            "setting-unknown",
            'DJANGO_MCP["POLICIES"]["shop"]["retry"] has the unknown key attempt.',
        ),
        (
            {"shop": {"timeout": {"seconds": "5"}}},
            "setting-type",
            'DJANGO_MCP["POLICIES"]["shop"]["timeout"]["seconds"] is \'5\', not a number above 0.',
        ),
        (
            {"shop": {"degradation": {"stub": WRONG}}},
            "setting-import",
            f'DJANGO_MCP["POLICIES"]["shop"]["degradation"]["stub"] is {WRONG!r}, which cannot be imported (Module '
            '"tests.policy.test_policies" does not define a "nothing" attribute/class).',
        ),
        (
            {"shop": {"retry": {"attempts": 3}}},
            "policy-incomplete",
            'DJANGO_MCP["POLICIES"]["shop"]["retry"] lacks base_delay, max_delay, and nothing it matches has a retry '
            "to lie over.",
        ),
        (
            {"*": {"concurrency": {"limit": 3}}, "shop.buy": {"concurrency": {"per_axis": 4}}},
            "policy-combination",
            'shop: Action buy: policy.concurrency has per_axis 4 (DJANGO_MCP["POLICIES"]["shop.buy"]["concurrency"]'
            '["per_axis"]), which is more than its limit 3 (DJANGO_MCP["POLICIES"]["*"]["concurrency"]["limit"]).',
        ),
        (
            {"shop": {"degradation": {"stub": "tests.policy.test_policies.told"}}},
            None,
            None,
        ),
        (
            {"shop": {"degradation": {"stub": "tests.policy.test_policies.no_stub"}}},
            "policy-stub",
            'shop: Action buy: policy.degradation.stub (DJANGO_MCP["POLICIES"]["shop"]["degradation"]["stub"]) cannot '
            "be called with data and ctx: too many positional arguments.",
        ),
        (
            {"shop.sell": {"timeout": {"seconds": 5}}},
            "policy-dead",
            'DJANGO_MCP["POLICIES"]["shop.sell"] matches none of plain, shop.buy.',
        ),
    ],
)
def test_a_wrong_policy_in_the_settings_is_told_with_its_path(settings, policies, rule, message):
    settings.DJANGO_MCP = {"POLICIES": policies}

    class Plain(BaseTool):
        """A plain tool."""

        input_schema = {"type": "object", "properties": {}}

        def run(self, arguments, ctx):
            return 1

    assert [one[:2] for one in told(Plain, steps())] == ([] if rule is None else [(rule, message)])


def no_stub(ctx):
    return 1


def test_a_tool_that_is_refused_anyway_is_told_of_once(settings):
    settings.DJANGO_MCP = {"POLICIES": {"shop": {"timeout": {"seconds": 5}}}}

    assert [rule for rule, _, _ in told(steps(policy="no"))] == ["policy-type"]


def test_a_cached_action_that_writes_is_warned_of():
    assert told(steps(policy=Policy(cache=Cache(ttl=1)))) == [
        (
            "policy-cache-writes",
            "shop: Action buy: its answers are kept in a cache, yet it is not read_only: a repeated call does "
            "nothing.",
            "Declare it read_only, or drop the cache.",
        )
    ]
    assert told(steps(policy=Policy(cache=Cache(ttl=1)), read_only=True)) == []


SHARED = Breaker(window=2, failure_threshold=1, reset_timeout=1, shared=True)


def test_a_shared_breaker_in_a_cache_of_one_process_is_warned_of(settings):
    assert told(steps(policy=Policy(breaker=SHARED))) == [
        (
            "policy-breaker-private",
            "shop: Action buy: its breaker is shared, yet the cache 'default' is not shared between processes.",
            'Name a cache of all processes in DJANGO_MCP["CACHE"].',
        )
    ]
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
        "site": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "x"},
    }
    settings.DJANGO_MCP = {"CACHE": "site"}
    assert told(steps(policy=Policy(breaker=SHARED))) == []
    settings.DJANGO_MCP = {"CACHE": "nowhere"}
    assert [rule for rule, _, _ in told(steps(policy=Policy(breaker=SHARED)))] == ["setting-cache-unknown"]


def test_a_refused_call_starts_nothing(clock):
    handle = Script(1)
    with testing.served(steps(handle, policy=Policy(retry=RETRY))):
        result = testing.run_tool("shop", {"action": "buy", "data": {"x": 1}})
    assert (code(result), handle.calls) == ("invalid_arguments", 0)
