"""`manage.py mcp breakers` shows circuit breakers and resets shared ones."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from django_mcp import Axis, BaseTool, Breaker, Policy, errors, testing
from tests.failing import OPERATIONS, Failing
from tests.policy.answers import Script, code
from tests.policy.conftest import shop

TENANT = Axis("command_tenant")
SHARED = Breaker(window=2, failure_threshold=1, reset_timeout=30, shared=True)
LOCAL = Breaker(window=2, failure_threshold=1, reset_timeout=30)


class Plain(BaseTool):
    """A tool without a breaker."""

    input_schema = {"type": "object"}
    options = {"policy": Policy()}

    def run(self, arguments, ctx):
        return 1


@pytest.fixture(autouse=True)
def tools(clock):
    shared = shop(Script(errors.TransientError()), Policy(breaker=SHARED))
    local = shop(Script(errors.TransientError()), Policy(breaker=LOCAL), name="own")
    with testing.served(shared, local, Plain):
        yield


def mcp(*arguments):
    out = io.StringIO()
    call_command("mcp", "breakers", *arguments, stdout=out, no_color=True)
    return out.getvalue().splitlines()


def row(breaker="shop buy", state="closed", retry_after=None, **axes):
    return {"breaker": breaker, "axes": axes, "state": state, "retry_after": retry_after}


def test_nothing_has_happened_yet():
    assert [line.split() for line in mcp()] == [
        ["breaker", "axes", "state", "retry", "after"],
        ["shop", "buy", "-", "closed", "-"],
        ["own", "buy", "-", "kept", "by", "each", "process", "-"],
    ]


def test_open_ones_are_shown_by_tenant_and_reset(clock):
    for tenant in ("beta", "acme"):
        with TENANT.use(tenant):
            testing.run_tool("shop", action="buy")
    clock.advance(20)

    assert json.loads(mcp("shop.*", "--json")[0]) == [
        row(
            state="open",
            retry_after=10,
            command_tenant="acme",
        ),
        row(state="open", retry_after=10, command_tenant="beta"),
    ]
    assert "acme" in mcp("shop")[1]
    assert mcp("shop")[1].split()[-3:] == ["open", "10", "s"]
    assert json.loads(mcp("--reset", "--json")[0]) == [row(), row("own buy", state=None)]
    with TENANT.use("acme"):
        assert code(testing.run_tool("shop", action="buy")) == "transient"


def test_a_breaker_of_each_process_cannot_be_reset_from_here():
    with pytest.raises(CommandError) as refused:
        mcp("own", "--reset")
    assert str(refused.value) == (
        "Nothing to reset: each process keeps own buy itself. Only a breaker with shared=True can be reset from here."
    )


def test_a_breaker_opens_anew_in_its_place(clock):
    for _ in range(2):
        testing.run_tool("shop", action="buy")
        clock.advance(30)

    assert [one["state"] for one in json.loads(mcp("shop", "--json")[0])] == ["open"]


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--reset"]])
def test_a_cache_that_fails_is_told(settings, monkeypatch, arguments):
    settings.CACHES = {"default": {"BACKEND": "tests.failing.Failing", "LOCATION": "command"}}
    monkeypatch.setattr(Failing, "failing", frozenset(OPERATIONS))

    with pytest.raises(CommandError, match=r"^The cache 'default' fails \(ConnectionError: get is down!+… "):
        mcp(*arguments)


def test_what_has_no_breaker_is_told():
    with pytest.raises(CommandError, match="No tool or action that matches 'plain' has"):
        mcp("plain")
