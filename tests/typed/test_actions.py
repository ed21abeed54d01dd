"""Actions whose properties come from their handlers' type hints."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Annotated

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, Field, SecretStr

from django_mcp import Context, Tool, action, testing
from tests.typed.test_input import Address, Node, Plain
from tests.typed.tools import found

if TYPE_CHECKING:
    from example_project.tracker.models import Task


SECRET = SecretStr("default")


class Item(BaseModel):
    name: str
    address: Address | None = None


class Orders(Tool):
    """Orders."""

    @action(description="Create an order", notes="Of one item.")
    def create(
        self,
        item: Item,
        count: Annotated[int, Field(gt=0, description=gettext_lazy("Monday"))] = 1,
        due: datetime.date | None = None,
        *,
        ctx: Context,
    ):
        return {"item": item.name, "count": count, "due": due, "action": ctx.action}

    @action(description="Walk a chain")
    async def walk(self, node: Node, nodes: list[Node]):
        return {"name": node.name, "last": nodes[-1].next and nodes[-1].next.name}

    @action(description="Ping")
    def ping(self):
        return {"pong": True}

    @action(description="Judge")
    def judge(self, plain: Plain, secret: SecretStr = SECRET):
        return {"n": plain.n, "secret": secret.get_secret_value()}

    @action(description="Choose", required_one_of=[["a"], ["b"]])
    def choose(self, a: int | None = None, b: int | None = None):
        return {"a": a, "b": b}


ADDRESS = {
    "description": "Where somebody lives.",
    "properties": {
        "street": {"type": "string"},
        "zip_code": {"default": "00000", "pattern": "^[0-9]{5}$", "type": "string"},
    },
    "required": ["street"],
    "title": "Address",
    "type": "object",
    "additionalProperties": False,
}


def test_help_shows_what_the_hints_say():
    with testing.served(Orders):
        shown = testing.json(testing.run_tool("help", {"tool": "orders", "action": "create"}))
    del ADDRESS["title"]
    assert shown == {
        "tool": "orders",
        "action": "create",
        "description": "Create an order",
        "properties": {
            "item": {
                "properties": {
                    "name": {"type": "string"},
                    "address": {"anyOf": [ADDRESS, {"type": "null"}], "default": None},
                },
                "required": ["name"],
                "type": "object",
                "additionalProperties": False,
            },
            "count": {"default": 1, "description": "Monday", "exclusiveMinimum": 0, "type": "integer"},
            "due": {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["item"],
        "notes": "Of one item.",
    }


def test_what_help_shows_follows_the_language():
    with testing.served(Orders), translation.override("de"):
        shown = testing.json(testing.run_tool("help", {"tool": "orders", "action": "create"}))
    assert shown["properties"]["count"]["description"] == "Montag"


@pytest.mark.parametrize(
    ("action", "data", "answer"),
    [
        (
            "create",
            {"item": {"name": "pen"}, "due": "2027-01-31"},
            {"item": "pen", "count": 1, "due": "2027-01-31", "action": "create"},
        ),
        (
            "walk",
            {"node": {"name": "a"}, "nodes": [{"name": "b", "next": {"name": "c"}}]},
            {"name": "a", "last": "c"},
        ),
        ("ping", {}, {"pong": True}),
        ("judge", {"plain": {"n": 1}}, {"n": 1, "secret": "default"}),
        ("choose", {"b": 2}, {"a": None, "b": 2}),
    ],
)
async def test_the_handler_gets_values_of_its_types(action, data, answer):
    with testing.served(Orders):
        assert testing.json(await testing.arun_tool("orders", action=action, data=data)) == answer


def test_a_recursive_type_carries_what_it_refers_to():
    with testing.served(Orders):
        shown = testing.json(testing.run_tool("help", {"tool": "orders", "action": "walk"}))
        refused = testing.error_json(
            testing.run_tool("orders", action="walk", data={"node": {"name": "a"}, "nodes": [{"name": 3}]})
        )
    reference = {"$ref": "#/properties/node/$defs/Node"}
    assert shown["properties"]["node"] == {
        **reference,
        "$defs": {
            "Node": {
                "properties": {
                    "name": {"type": "string"},
                    "next": {"anyOf": [reference, {"type": "null"}], "default": None},
                },
                "required": ["name"],
                "type": "object",
                "additionalProperties": False,
            }
        },
    }
    assert refused["invalid"] == [{"path": "nodes[0].name", "problems": ["must be of type string"]}]


@pytest.mark.parametrize(
    ("action", "data", "error"),
    [
        ("create", {}, "missing_required_fields"),
        ("create", {"item": {"name": "a"}, "cuont": 1}, "unknown_params"),
        ("create", {"item": {"name": "a"}, "count": 0}, "invalid_values"),
        ("judge", {"plain": {"n": 4}}, "invalid_values"),
        ("choose", {}, "missing_required_group"),
        ("crate", {}, "unknown_action"),
    ],
)
def test_the_gates_are_those_of_every_action(action, data, error):
    with testing.served(Orders):
        body = testing.error_json(testing.run_tool("orders", action=action, data=data))
    assert body["error"] == error


def test_a_validators_refusal_names_the_action():
    with testing.served(Orders):
        body = testing.error_json(testing.run_tool("orders", action="judge", data={"plain": {"n": 4}}))
    assert {key: body[key] for key in ("message", "invalid", "action", "help")} == {
        "message": "orders judge refuses a value in data.",
        "invalid": [{"path": "plain.n", "problems": ["must be small"]}],
        "action": "judge",
        "help": 'help {tool: "orders", action: "judge"}',
    }


def test_the_digest_of_a_refusal_is_plain():
    with testing.served(Orders), translation.override("de"):
        result = testing.run_tool("orders", action="create", data={})
    assert json.loads(result["content"][0]["text"])["input_schema"]["properties"]["count"]["description"] == (
        "Montag"
    )


class TestOffences:
    def test_a_handler_of_data_and_ctx_lacks_its_properties(self):
        class Forgot(Tool):
            """Forgot."""

            @action(description="Do it")
            def run(self, data: dict, ctx: Context):
                return {}

            @action(description="Do it")
            def bare(self, name):
                return {}

        assert [one for one in found(Forgot) if one[0] == "E027"] == [
            (
                "E027",
                f"forgot: Action {name}: it has no properties.",
                "Add properties (an action without data has properties={}), or type hints to every parameter.",
            )
            for name in ("bare", "run")
        ]

    def test_hints_that_are_not_there_at_run_time(self):
        class Early(Tool):
            """Early."""

            @action(description="Do it")
            def run(self, task: Task):
                return {}

        assert found(Early) == [
            (
                "E090",
                "early: Action run: a hint names Task, which is not there at run time.",
                "Import Task at the top of the module, outside of `if TYPE_CHECKING`; schemas are made of the hints.",
            )
        ]

    def test_a_default_that_no_caller_could_send_is_a_warning(self):
        class Torn(Tool):
            """Torn."""

            @action(description="Do it")
            def run(self, a: int = None):  # noqa: RUF013
                return {}

        assert found(Torn) == [
            (
                "W020",
                "torn: Action run: the default at properties.a is not what its type hint takes; a caller that "
                "sends it is refused.",
                "Give it a default that callers could send, or a hint that admits it, such as int | None = None.",
            )
        ]

    def test_required_that_is_stated_counts(self):
        class Stated(Tool):
            """Stated."""

            @action(description="Do it", required=["a"])
            def run(self, a: int = 1):
                return {"a": a}

        with testing.served(Stated):
            body = testing.error_json(testing.run_tool("stated", action="run", data={}))
        assert body["missing"] == ["a"]
