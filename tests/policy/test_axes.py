"""Whose data a call is about."""

from __future__ import annotations

import asyncio
import threading

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from django_mcp import Axis, Tool, ToolError, action, errors, testing
from django_mcp.policy import axes
from django_mcp.registry.catalog import findings
from tests.wire import OneOfEachClient, Wire, members

CUSTOMER = Axis("customer")
PLACE = Axis("place", default="eu")
REFUSED = Axis("refused")


class Where(Tool):
    """Says where it is."""

    @action(description="Say", properties={"as": {}})
    def say(self, data, ctx):
        return {"customer": CUSTOMER.current(), "place": PLACE.current()}

    @action(description="Say", properties={"as": {}})
    async def asay(self, data, ctx):
        await asyncio.sleep(0)
        return {"customer": CUSTOMER.current(), "place": PLACE.current()}


seen = []


def by_header(ctx, params):
    seen.append((params.name, dict(params.arguments), dict(params.meta)))
    return ctx.headers.get("x-tenant")


async def by_header_async(ctx, params):
    await asyncio.sleep(0)
    return ctx.headers.get("X-Tenant")


def by_meta(ctx, params):
    return params.meta.get("place")


def by_argument(ctx, params):
    return params.arguments["data"].get("as")


def by_failing(ctx, params):
    raise {
        "tool": ToolError("who are you?"),
        "permanent": errors.PermanentError("closed"),
        "bug": ValueError(),
    }[params.meta["fails"]]


def by_number(ctx, params):
    return 7


def by_nothing(params):
    return None


@pytest.fixture(params=["say", "asay"])
def call(request, settings):
    """Call the tool from a thread and from an event loop."""

    def run(binders, **options):
        settings.DJANGO_MCP = {
            "AXES": {
                name: {"axis": f"{__name__}.{name.upper()}", "binder": f"{__name__}.{binder}"}
                for name, binder in binders.items()
            }
        }
        ctx = testing.build_context(**options.pop("of", {}))
        with testing.served(Where):
            results = [
                members(way("where", action=request.param, ctx=ctx, **options))
                for way in (testing.run_tool, async_to_sync(testing.arun_tool))
            ]
        assert results[0] == results[1] or "fault" in results[0]["content"][0]["text"]
        return results[0]

    return run


def said(result):
    return testing.json({**result, "isError": result["isError"]})


ACME = {"headers": {"X-Tenant": "acme"}}


@pytest.mark.parametrize("binder", ["by_header", "by_header_async"])
def test_a_binder_reads_headers(call, binder):
    assert said(call({"customer": binder}, of=ACME)) == {"customer": "acme", "place": "eu"}
    assert CUSTOMER.bound() is None


def test_a_binder_reads_meta_and_several_axes_are_bound(call):
    seen.clear()
    of = {**ACME, "meta": {"place": "us"}}

    assert said(call({"customer": "by_header", "place": "by_meta"}, of=of)) == {
        "customer": "acme",
        "place": "us",
    }
    name, arguments, meta = seen[0]
    assert (name, list(arguments), meta["place"]) == ("where", ["action"], "us")


def test_a_binder_reads_arguments_as_they_were_sent(call):
    assert said(call({"customer": "by_argument"}, data={"as": "beta"}))["customer"] == "beta"


def test_a_binder_that_does_not_say_leaves_what_middleware_bound(call):
    with CUSTOMER.use("from middleware"):
        assert said(call({"customer": "by_header"}))["customer"] == "from middleware"
        assert said(call({"customer": "by_header"}, of=ACME))["customer"] == "acme"
        assert said(call({}))["customer"] == "from middleware"


def test_a_required_axis_without_a_value_is_a_permanent_error(call):
    assert call({"customer": "by_header"}) == {
        "content": [
            {
                "type": "text",
                "text": "This call does not say its customer.\nDo not repeat the call with the same arguments.",
            }
        ],
        "isError": True,
        "_meta": {"django_mcp.error": "permanent", "django_mcp.retryable": False},
    }


@pytest.mark.parametrize(
    ("fails", "code", "text"),
    [
        ("tool", "error", "Operation failed: who are you?"),
        ("permanent", "permanent", "closed\nDo not repeat the call with the same arguments."),
        ("bug", "error", '"errorType":"tool_fault"'),
    ],
)
def test_a_binder_that_raises_is_an_error_of_the_tool(call, fails, code, text):
    result = call({"customer": "by_failing"}, of={"meta": {"fails": fails}})

    assert result["isError"]
    assert result["_meta"]["django_mcp.error"] == code
    assert text in result["content"][0]["text"]


def test_a_binder_returns_a_string(call, caplog):
    assert '"exception":"TypeError"' in call({"customer": "by_number"})["content"][0]["text"]
    assert "A value of the axis customer is a string, not int." in caplog.text


def test_a_refused_call_asks_no_binder(settings):
    seen.clear()
    settings.DJANGO_MCP = {
        "AXES": {"customer": {"axis": f"{__name__}.CUSTOMER", "binder": f"{__name__}.by_header"}}
    }
    with testing.served(Where):
        testing.run_tool("where", action="say", data={"x": 1})
        testing.run_tool("help")
    assert seen == []


def test_an_axis_is_bound_until_the_answer_is_announced(settings, call):
    from django_mcp import signals

    values = []

    def receive(**fields):
        values.append(CUSTOMER.bound())

    signals.tool_stopped.connect(receive)
    call({"customer": "by_header"}, of=ACME)
    signals.tool_stopped.disconnect(receive)
    assert values == ["acme", "acme"]


@pytest.mark.parametrize(("client", "mount"), [(Client, "/mcp"), (OneOfEachClient, "/amcp")])
def test_over_http_each_call_has_its_own(settings, client, mount):
    settings.DJANGO_MCP = {
        "AXES": {"customer": {"axis": f"{__name__}.CUSTOMER", "binder": f"{__name__}.by_header"}}
    }
    with testing.served(Where):
        wire = Wire(client(), mount)
        for tenant in ("acme", "beta"):
            answer = wire.modern(
                "tools/call",
                {"name": "where", "arguments": {"action": "asay"}},
                headers={"X-Tenant": tenant},
            )
            assert f'"customer":"{tenant}"' in answer.body["result"]["content"][0]["text"]


def test_values_are_carried_to_another_thread():
    with CUSTOMER.use("acme"):
        taken = axes.snapshot()
    assert taken == {"customer": "acme"}
    values = []

    def work():
        with axes.rebound(taken):
            values.append((CUSTOMER.current(), PLACE.current()))
        values.append(CUSTOMER.bound())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert values == [("acme", "eu"), None]


def test_what_is_carried_has_to_be_known():
    rebound = axes.rebound({"planet": "mars"})
    with pytest.raises(errors.PermanentError, match="There is no axis planet here"):
        rebound.__enter__()


OTHER = Axis("doubled")
TWICE = Axis("doubled")


@pytest.mark.parametrize(
    ("name", "stated", "rule", "message"),
    [
        (
            "customers",
            {"axis": f"{__name__}.CUSTOMER", "binder": f"{__name__}.by_header"},
            "axis-name",
            'Server default: DJANGO_MCP["AXES"]["customers"] is the axis \'customer\'.',
        ),
        (
            "doubled",
            {"axis": f"{__name__}.OTHER", "binder": f"{__name__}.by_header"},
            "axis-duplicate",
            'Server default: DJANGO_MCP["AXES"]["doubled"] is one of several axes named \'doubled\'.',
        ),
        (
            "customer",
            {"axis": f"{__name__}.CUSTOMER", "binder": f"{__name__}.by_nothing"},
            "axis-binder",
            'Server default: DJANGO_MCP["AXES"]["customer"]["binder"] cannot be called with ctx and params: too many '
            "positional arguments.",
        ),
        (
            "customer",
            {"axis": f"{__name__}.seen", "binder": f"{__name__}.by_header"},
            "setting-import",
            f'DJANGO_MCP["AXES"]["customer"]["axis"] is \'{__name__}.seen\', which is not an Axis.',
        ),
        (
            "customer",
            {"axis": f"{__name__}.CUSTOMER", "binder": f"{__name__}.no_such"},
            "setting-import",
            f'DJANGO_MCP["AXES"]["customer"]["binder"] is \'{__name__}.no_such\', which cannot be imported (Module '
            f'"{__name__}" does not define a "no_such" attribute/class).',
        ),
        (
            "customer",
            {"axis": f"{__name__}.CUSTOMER"},
            "setting-missing",
            'DJANGO_MCP["AXES"]["customer"] lacks the key binder.',
        ),
    ],
)
def test_a_wrong_setting_is_told(settings, name, stated, rule, message):
    settings.DJANGO_MCP = {"AXES": {name: stated}}
    with testing.served(Where):
        assert [(one.offence.rule, one.offence.message) for one in findings()] == [(rule, message)]
