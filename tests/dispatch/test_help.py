"""The help tool explains what the server serves, from the same declarations."""

from __future__ import annotations

import json

import pytest

from django_mcp import BaseTool, Tool, action, signals, testing

PROPERTIES = {
    "name": {"type": "string"},
    "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
}
CLOSED = {
    "name": {"type": "string"},
    "lines": {
        "type": "array",
        "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "additionalProperties": False},
    },
}


class Orders(Tool):
    """Orders of the shop."""

    @action(
        description="Create an order",
        properties=PROPERTIES,
        required=["name"],
        required_one_of=[["name"], ["lines"]],
        defaults={"lines": []},
        notes="Long\nnotes.",
        related=["list"],
        examples=[{"name": "Ada"}],
    )
    def create(self, data, ctx):
        return {}

    @action(description="List orders", properties={}, permission=lambda ctx: ctx.assigns.get("clerk", True))
    def list(self, data, ctx):
        return {}

    def action_context(self, action, ctx):
        return {"open": 3} if action == "create" else None


class Hand(BaseTool):
    """Written by hand."""

    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return {}


CREATE = {
    "description": "Create an order",
    "properties": CLOSED,
    "required": ["name"],
    "defaults": {"lines": []},
    "required_one_of": [["name"], ["lines"]],
    "notes": "Long\nnotes.",
    "related": ["list"],
    "examples": [{"name": "Ada"}],
}
LIST = {"description": "List orders", "properties": {}, "required": []}


@pytest.fixture(autouse=True)
def served():
    with testing.served(Orders, Hand):
        yield


@pytest.fixture
def refused(run):
    def call(arguments, **options):
        result = run("help", arguments, **options)
        assert (result["isError"], result["_meta"]) == (
            True,
            {"django_mcp.error": "invalid_arguments", "django_mcp.retryable": True},
        )
        return json.loads(result["content"][0]["text"])

    return call


def test_the_index_lists_every_tool_with_its_actions_help_last(body):
    index = body("help", {})
    assert index["tools"][:2] == [
        {
            "tool": "orders",
            "description": "Orders of the shop.",
            "actions": ["create: Create an order", "list: List orders"],
        },
        {"tool": "hand", "description": "Written by hand.", "actions": []},
    ]
    assert [(entry["tool"], entry["actions"]) for entry in index["tools"][2:]] == [("help", [])]


def test_help_is_there_when_nothing_else_is(body):
    with testing.served():
        assert [entry["tool"] for entry in body("help", {})["tools"]] == ["help"]


def test_a_tool_is_shown_with_what_its_actions_declare_closed(body):
    assert body("help", {"tool": "orders"}) == {
        "tool": "orders",
        "description": "Orders of the shop.",
        "actions": {"create": CREATE, "list": LIST},
    }


def test_a_tool_without_actions_is_shown_with_what_it_takes(body):
    assert body("help", {"tool": "hand"}) == {
        "tool": "hand",
        "description": "Written by hand.",
        "actions": {},
        "input_schema": Hand.input_schema,
    }


def test_help_on_help_has_no_actions(body):
    shown = body("help", {"tool": "help"})
    assert (shown.keys(), shown["actions"]) == ({"tool", "description", "actions", "input_schema"}, {})


def test_an_action_is_shown_flat_with_the_facts_of_the_moment(body):
    shown = {"tool": "orders", "action": "create", **CREATE, "context": {"open": 3}}
    assert body("help", {"tool": "orders", "action": "create"}) == shown


def test_an_action_without_facts_has_no_context(body):
    assert body("help", {"tool": "orders", "action": "list"}) == {"tool": "orders", "action": "list", **LIST}


def test_an_action_needs_its_tool(refused):
    assert refused({"action": "create"}) == {
        "error": "missing_tool",
        "message": "help explains an action of a tool: name the tool too, one of hand, help, orders.",
        "valid_tools": ["hand", "help", "orders"],
        "help": "help {}",
    }


@pytest.mark.parametrize("arguments", [{"tool": "ordres"}, {"tool": "ordres", "action": "create"}])
def test_an_unknown_tool_is_answered_with_the_tools_whatever_the_action(refused, arguments):
    assert refused(arguments) == {
        "error": "unknown_tool",
        "message": "There is no tool 'ordres'; the tools are hand, help, orders.",
        "valid_tools": ["hand", "help", "orders"],
        "did_you_mean": {"ordres": "orders"},
        "help": "help {}",
    }


def test_a_tool_unlike_any_gets_no_suggestion(refused):
    assert "did_you_mean" not in refused({"tool": "zzzzzz"})


def test_an_unknown_action_is_answered_as_the_tool_itself_would(refused, run):
    own = json.loads(run("orders", {"action": "craete"})["content"][0]["text"])
    assert refused({"tool": "orders", "action": "craete"}) == own


def test_a_misspelt_argument_is_refused_with_the_arguments_of_help(refused):
    assert refused({"tol": "orders"}) == {
        "error": "unknown_arguments",
        "message": "help takes only the arguments tool, action.",
        "unknown": ["tol"],
        "unknown_count": 1,
        "allowed": ["tool", "action"],
        "did_you_mean": {"tol": "tool"},
        "help": "help {}",
    }


def test_mistyped_arguments_are_named_together(refused):
    assert refused({"tool": 1, "action": None}) == {
        "error": "invalid_argument_types",
        "message": "action must be of JSON type string, not null and tool must be of JSON type string, not number.",
        "invalid": {"action": "string", "tool": "string"},
        "help": "help {}",
    }


def test_a_context_of_the_wrong_shape_is_a_fault_on_the_way_of_help_too(run, settings):
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}
    wrong = type("Wrong", (Orders,), {"name": "wrong", "action_context": lambda self, action, ctx: [1]})
    with testing.served(wrong):
        result = run("help", {"tool": "wrong", "action": "create"})
    assert json.loads(result["content"][0]["text"]) == {
        "errorType": "tool_fault",
        "tool": "help",
        "exception": "OffContract",
        "message": "action_context must return a mapping or None, not list.",
    }


def test_help_leaves_out_what_the_caller_may_not_see(body):
    stranger = {"ctx": testing.build_context(assigns={"clerk": False})}
    assert body("help", {}, **stranger)["tools"][0]["actions"] == ["create: Create an order"]
    assert body("help", {"tool": "orders"}, **stranger)["actions"] == {"create": {**CREATE, "related": []}}


@pytest.mark.parametrize(
    ("arguments", "level", "is_error"),
    [
        ({}, "index", False),
        ({"tool": "orders"}, "tool", False),
        ({"tool": "gone"}, "tool", True),
        ({"tool": "orders", "action": "create"}, "action", False),
        ({"action": "create"}, "action", True),
    ],
)
def test_a_call_of_help_is_announced_with_its_target(run, arguments, level, is_error):
    heard = []
    signals.help_called.connect(receiver := lambda **fields: heard.append(fields))
    run("help", arguments)
    signals.help_called.disconnect(receiver)
    [fields] = heard
    del fields["signal"], fields["sender"]
    assert fields == {
        "server": "default",
        "request_id": 1,
        "tool": arguments.get("tool"),
        "action": arguments.get("action"),
        "level": level,
        "is_error": is_error,
    }
