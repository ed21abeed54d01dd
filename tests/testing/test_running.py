"""A tool run by a test answers what it answers on the wire."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser, User

from django_mcp import Answer, BaseTool, ConfigurationError, Tool, testing
from tests.asking import NAME, form
from tests.testing.shop import SHOP, AsyncInterview, Interview
from tests.wire import LEGACY, MODERN, SERVER_INFO


@pytest.fixture(params=["run_tool", "arun_tool"])
def run(request):
    way = getattr(testing, request.param)
    with testing.served(*SHOP):
        yield way if request.param == "run_tool" else async_to_sync(way)


CALLS = [
    ("orders", {"action": "find", "data": {"number": "A1"}}),
    ("orders", {"action": "afind"}),
    ("orders", {"action": "find", "data": {"number": "none"}}),
    ("orders", {"action": "find", "data": {"number": ""}}),
    ("orders", {"action": "find", "data": {"nmber": "A1"}}),
    ("orders", {"action": "close"}),
    ("orders", {"actoin": "find"}),
    ("orders", {}),
    ("labels", {"kinds": ["text", "image"]}),
    ("measured", {"big": 2**70, "ratio": 2.0}),
    ("help", {}),
    ("help", {"tool": "orders", "action": "find"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_the_answer_is_the_wire_s(run, wire, tool, arguments):
    with testing.served(*SHOP):
        answer = wire.modern("tools/call", {"name": tool, "arguments": arguments})
        ran = run(tool, arguments)

    assert ran == answer.body["result"]


@pytest.mark.parametrize("version", LEGACY)
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_so_it_is_in_earlier_revisions(run, wire, tool, arguments, version):
    with testing.served(*SHOP):
        answer = wire.legacy("tools/call", {"name": tool, "arguments": arguments}, version=version)
        ran = run(tool, arguments, ctx=testing.build_context(version=version))

    assert ran == answer.body["result"]


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_a_refusal_is_the_wire_s(run, version):
    with pytest.raises(testing.JSONRPCError) as raised:
        run("odrers", ctx=testing.build_context(version=version))

    text = (
        "Unknown tool: odrers. Did you mean orders? Call tools/list or the help tool for the tools there are."
    )
    assert (raised.value.status, raised.value.code, raised.value.message) == (200, -32602, text)


def test_an_action_may_be_called_by_name(run):
    named = run("orders", action="find", data={"number": "A1"})

    assert named == run("orders", {"action": "find", "data": {"number": "A1"}})


def test_the_caller_is_the_context_s(run):
    ctx = testing.build_context(user=User(username="ada", is_staff=True))

    assert testing.json(run("orders", action="find", data={"number": "A1"}, ctx=ctx))["for"] == "ada"
    assert testing.json(run("orders", action="close", ctx=ctx)) == {"closed": True}


def test_the_server_is_the_context_s(run, settings):
    settings.DJANGO_MCP = {"SERVERS": {"few": {"INCLUDE": ["labels"], "NAME": "Few"}}}

    with pytest.raises(testing.JSONRPCError, match="Unknown tool"):
        run("orders", ctx=testing.build_context(server="few"))


def test_the_context_is_left_as_it_was(run):
    ctx = testing.build_context(capabilities={"elicitation": {}})

    for _ in range(2):
        assert run("interview", ctx=ctx)["inputRequests"] == {"who": form("Who are you?", NAME)}
    assert (ctx.tool, ctx.view, ctx.interruption, dict(ctx.answers)) == ("", None, None, {})


def test_an_offence_of_a_declaration_is_raised(run):
    class Wrong(Tool):
        """Wrong."""

    with testing.served(Wrong), pytest.raises(ConfigurationError, match="wrong"):
        run("wrong")


class TestQuestions:
    ANSWERS = {"who": {"name": "Ada"}, "age": Answer("accept", {"age": 36})}

    @pytest.fixture(params=[Interview, AsyncInterview], autouse=True)
    def interview(self, request, run):
        with testing.served(request.param):
            yield

    def test_are_answered(self, run):
        assert testing.json(run("interview", answers=self.ANSWERS)) == {"name": "Ada", "age": 36}

    @pytest.mark.parametrize("answer", ["decline", Answer("decline", {})])
    def test_may_be_declined(self, run, answer):
        said = testing.json(run("interview", answers={"who": answer}))

        assert said == {"name": "decline", "content": {}}

    def test_without_answers_are_the_result(self, run):
        asking = run("interview", ctx=testing.build_context(capabilities={"elicitation": {}}))

        assert asking.pop("requestState")
        assert asking == {
            "resultType": "input_required",
            "inputRequests": {"who": form("Who are you?", NAME)},
            "_meta": SERVER_INFO,
        }

    def test_need_a_client_that_asks(self, run):
        assert "elicitation.form" in testing.error_text(run("interview"))

    def test_without_their_answer_fail(self, run):
        with pytest.raises(AssertionError, match=r"No answer is given to 'age': .*How old"):
            run("interview", answers={"who": {"name": "Ada"}})

    def test_with_an_answer_that_does_not_fit_fail(self, run):
        with pytest.raises(
            AssertionError, match=r"The answer {'nam': 'Ada'} to 'who' does not fit: .*Who are"
        ):
            run("interview", answers={"who": {"nam": "Ada"}})


def test_a_context_has_defaults():
    ctx = testing.build_context()

    assert (ctx.request_id, ctx.server, ctx.tool, ctx.action) == (1, "default", "", None)
    assert (ctx.meta, ctx.assigns, ctx.headers, ctx.capabilities) == ({}, {}, {}, {})
    assert isinstance(ctx.user, AnonymousUser)
    assert (ctx.version, ctx.request, ctx.cancelled) == ("2026-07-28", None, False)


def test_a_context_is_what_it_is_told_to_be():
    assigns, user = {"tenant": "acme"}, User(username="ada")
    ctx = testing.build_context(
        server="staff", request_id="r", user=user, meta={"k": 1}, assigns=assigns, headers={"X-Tenant": "a"}
    )

    assert (ctx.server, ctx.request_id, ctx.user, ctx.meta) == ("staff", "r", user, {"k": 1})
    assert ctx.assigns is assigns
    assert ctx.headers["x-tenant"] == "a"


@pytest.mark.django_db
def test_background_work_is_done_where_the_test_is():
    class Report(BaseTool):
        """Writes a report."""

        name = "report"
        options = {"background": True}
        input_schema = {"type": "object", "properties": {}}

        def run(self, arguments, ctx):
            ctx.report_progress(1, message="written")
            return {"pages": 3}

    with testing.served(Report):
        receipt = testing.run_tool("report")
        first = testing.run_task(receipt)
        again = testing.run_task(receipt["structuredContent"]["task_id"])

    assert testing.structured(first) == {"result": {"pages": 3}}
    assert again == first
