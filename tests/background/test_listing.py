"""What a server publishes of background work."""

from __future__ import annotations

import pytest
from django.utils.translation import gettext_lazy

from django_mcp import BaseTool, Tool, action, testing
from django_mcp.dispatch import tasks
from tests.wire import members, result

pytestmark = pytest.mark.usefixtures("in_memory")

RECEIPT = {"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"]}
INPUT = {
    "type": "object",
    "properties": {"task_id": {"type": "string"}},
    "required": ["task_id"],
    "additionalProperties": False,
}
VIEW = {
    "type": "object",
    "properties": {
        "task_id": {"type": "string"},
        "status": {
            "type": "string",
            "enum": ["working", "input_required", "completed", "failed", "cancelled"],
        },
        "message": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["task_id", "status"],
    "title": "TaskStatusView",
}
POLL = "a task_id at once; poll task_status with it, then fetch task_result."


class Report(BaseTool):
    """Writes a report."""

    name = "report"
    options = {"background": True}
    input_schema = {"type": "object", "properties": {"month": {"type": "string"}}}
    output_schema = {"type": "object", "required": ["pages"]}

    def run(self, arguments, ctx):
        return {"pages": 3}


class Hidden(Report):
    name = "hidden"
    output_schema = {"type": "string"}
    permission = "auth.nobody_has_this"


class Books(Tool):
    description = gettext_lazy("Books")
    output_schema = {"type": "object", "required": ["books"]}

    @action(description="Count them", properties={}, background=True)
    def count(self, data, ctx):
        return {"books": 1}

    @action(description="List them", properties={})
    def list(self, data, ctx):
        return {"books": []}


class Jobs(Tool):
    """Jobs."""

    @action(description="Do it", properties={}, background=True)
    def do(self, data, ctx):
        return {}


class Plain(BaseTool):
    """Answers at once."""

    name = "plain"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return {}


def listed(wire, **options):
    return {tool["name"]: tool for tool in wire.modern("tools/list", **options).body["result"]["tools"]}


def test_a_background_tool_publishes_its_receipt_and_says_how_to_poll(wire):
    with testing.served(Report):
        tools = listed(wire)

    assert tools["report"] == {
        "name": "report",
        "description": f"Writes a report. Starts a background task and answers with {POLL}",
        "inputSchema": Report.input_schema,
        "outputSchema": RECEIPT,
    }


def test_the_shared_tools_come_last(wire):
    with testing.served(Report, Plain):
        tools = listed(wire)

    assert list(tools) == ["report", "plain", "help", "task_status", "task_result", "task_cancel"]
    assert tools["plain"]["description"] == "Answers at once."
    assert tools["task_status"] == {
        "name": "task_status",
        "description": "Tells how a background task stands: working, completed, failed or cancelled; and its "
        "latest message.",
        "inputSchema": INPUT,
        "outputSchema": VIEW,
        "annotations": {"readOnlyHint": True},
    }
    assert tools["task_result"] == {
        "name": "task_result",
        "description": "Fetches the result of a background task that has ended; answers not_ready while it is "
        "working.",
        "inputSchema": INPUT,
        "outputSchema": {
            "type": "object",
            "properties": {"result": Report.output_schema},
            "required": ["result"],
        },
        "annotations": {"readOnlyHint": True},
    }
    assert tools["task_cancel"] == {
        "name": "task_cancel",
        "description": "Asks a background task to stop, and tells how it stands; it may take a moment until it "
        "has stopped.",
        "inputSchema": INPUT,
        "outputSchema": VIEW,
    }


def test_a_tool_of_several_actions_says_which_of_them_are(wire):
    with testing.served(Books, Jobs):
        tools = listed(wire)

    assert tools["books"]["description"] == f"Books Starts a background task for count, answering with {POLL}"
    assert tools["books"]["outputSchema"] == {"type": "object", "anyOf": [Books.output_schema, RECEIPT]}
    assert tools["jobs"]["description"] == f"Jobs. Starts a background task and answers with {POLL}"
    assert tools["jobs"]["outputSchema"] == RECEIPT
    assert tools["task_result"]["outputSchema"]["properties"] == {"result": {}}


def test_help_says_the_same(wire):
    with testing.served(Jobs):
        whole = testing.run_tool("help")
        one = testing.run_tool("help", {"tool": "jobs"})

    said = f"Jobs. Starts a background task and answers with {POLL}"
    assert testing.json(whole)["tools"][0]["description"] == said
    assert testing.json(one)["description"] == said


@pytest.mark.django_db
def test_the_results_of_what_a_caller_does_not_see_are_not_published(wire):
    with testing.served(Report, Hidden):
        assert listed(wire)["task_result"]["outputSchema"]["properties"] == {"result": Report.output_schema}


def test_a_server_without_background_work_has_none_of_it(wire, settings):
    settings.DJANGO_MCP = {
        **settings.DJANGO_MCP,
        "SERVERS": {"plain": {"EXCLUDE": ["report"]}},
    }
    with testing.served(Report, Plain):
        ctx = testing.build_context(server="plain")
        tools = testing.json(testing.run_tool("help", ctx=ctx))["tools"]
        with pytest.raises(testing.JSONRPCError, match="Unknown tool: task_status"):
            testing.run_tool("task_status", {"task_id": "1"}, ctx=ctx)
    assert [tool["tool"] for tool in tools] == ["plain", "help"]


def test_nor_does_it_speak_of_tasks(wire):
    with testing.served(Plain):
        assert wire.modern("server/discover").body["result"]["capabilities"] == {"tools": {}}


def test_an_answer_at_once_and_a_receipt_are_both_accepted(wire):
    with testing.served(Books):
        answer = wire.modern("tools/call", {"name": "books", "arguments": {"action": "list"}})
        receipt = wire.modern("tools/call", {"name": "books", "arguments": {"action": "count"}})
        tasks.runner().join(receipt.body["result"]["structuredContent"]["task_id"], 30)

    content = [{"type": "text", "text": '{"books":[]}'}]
    assert answer == result({"content": content, "structuredContent": {"books": []}, "isError": False})
    assert list(members(receipt.body["result"])["structuredContent"]) == ["task_id"]
