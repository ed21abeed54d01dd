"""What widely used clients refuse is warned of, and served all the same."""

from __future__ import annotations

import pytest

from django_mcp import BaseTool, Tool, testing
from django_mcp.checks import check_mcp
from django_mcp.encoding.normalise import normalise
from django_mcp.registry.catalog import catalog


def hand(input_schema=None, **members):
    def run(self, arguments, ctx):
        return {}

    schema = {"type": "object", "properties": {}} if input_schema is None else input_schema
    members = {"name": "hand", "description": "x", "run": run, "input_schema": schema, **members}
    return type("Hand", (BaseTool,), {"__module__": __name__, **members})


def warned(tool):
    with testing.served(tool):
        catalog("default")
        return [(message.id.removeprefix("django_mcp."), message.msg) for message in check_mcp(None)]


def within(**schema):
    return {"type": "object", "properties": {"p": schema}}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (hand(), []),
        (
            hand(name="a.b"),
            [
                (
                    "W010",
                    "a.b: the name 'a.b' is longer than 64 characters or holds a dot; some clients refuse it.",
                )
            ],
        ),
        (
            hand(description="x" * 1025),
            [("W011", "hand: the description has 1025 characters; some clients take 1024 at most.")],
        ),
        (
            hand({"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}], "if": {}}),
            [
                (
                    "W012",
                    "hand: the root of input_schema has anyOf, if; some clients drop the tool, some all tools.",
                )
            ],
        ),
        (
            hand({"type": "object"}),
            [("W013", "hand: the root of input_schema has no properties, which some clients require.")],
        ),
        (
            hand(
                {
                    "type": "object",
                    "properties": {"p": {"$ref": "#/$defs/x"}},
                    "$defs": {"x": {"type": "string"}},
                }
            ),
            [
                ("W014", "hand: input_schema has $defs, which some clients do not resolve."),
                ("W014", "hand: input_schema properties.p has $ref, which some clients do not resolve."),
            ],
        ),
        (
            hand(within(type="array", items={"type": ["string", "null"]})),
            [
                (
                    "W015",
                    "hand: input_schema properties.p.items has a list of types, which some clients refuse.",
                )
            ],
        ),
        (
            hand(within(items=True)),
            [
                (
                    "W016",
                    "hand: input_schema properties.p.items is the schema true, which some clients cannot read.",
                )
            ],
        ),
        (hand(within(type="object", additionalProperties=False)), []),
        (
            hand(output_schema={"type": "array"}),
            [
                (
                    "W017",
                    "hand: the root of output_schema is no object, so clients before 2026-07-28 do not get it.",
                )
            ],
        ),
        (
            hand(output_schema={"type": "object", "properties": {"p": {"type": ["string", "null"]}}}),
            [("W015", "hand: output_schema properties.p has a list of types, which some clients refuse.")],
        ),
    ],
)
def test_a_published_schema_is_judged_by_what_clients_take(tool, expected):
    assert warned(tool) == expected


def test_an_action_tool_is_safe_whatever_its_actions_declare():
    class Wild(Tool):
        """Wild."""

        actions = {
            "do": {
                "description": "x",
                "properties": {"p": {"$ref": "#/properties/q"}, "q": {"type": ["string", "null"]}, "r": True},
            }
        }

        def run_action(self, action, data, ctx):
            return {}

    assert warned(Wild) == []


SCHEMA = {
    "type": "object",
    "properties": {
        "ship": {"$ref": "#/$defs/address", "description": "Where to"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "$defs": {
        "address": {
            "type": "object",
            "description": "An address",
            "properties": {"zip": {"$ref": "#/$defs/zip"}},
        },
        "line": {"type": "string"},
        "zip": {"type": "string", "const": {"$ref": "#/$defs/line"}},
    },
}
INLINED = {
    "type": "object",
    "properties": {
        "ship": {
            "type": "object",
            "description": "Where to",
            "properties": {"zip": {"type": "string", "const": {"$ref": "#/$defs/line"}}},
        },
        "lines": {"type": "array", "items": {"type": "string"}},
    },
}


def published(tool):
    with testing.served(tool):
        view = catalog("default").view(testing.build_context())
        return normalise(view.definition(view.get("hand")))


def test_references_can_be_published_in_place(settings):
    tool = hand(SCHEMA, output_schema=SCHEMA)
    assert (published(tool)["inputSchema"], published(tool)["outputSchema"]) == (SCHEMA, SCHEMA)
    settings.DJANGO_MCP = {"INLINE_REFS": True}
    assert (published(tool)["inputSchema"], published(tool)["outputSchema"]) == (INLINED, INLINED)
    assert warned(tool) == []


def test_references_in_lists_of_schemas_are_written_in_place_too(settings):
    settings.DJANGO_MCP = {"INLINE_REFS": True}
    schema = within(prefixItems=[{"$ref": "#/$defs/line"}, True])
    schema["$defs"] = {"line": {"type": "string"}}
    assert published(hand(schema))["inputSchema"] == within(prefixItems=[{"type": "string"}, True])


def test_a_recursive_reference_stays(settings):
    settings.DJANGO_MCP = {"INLINE_REFS": True}
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {"type": "object", "properties": {"first": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    assert published(hand(schema))["inputSchema"] == schema


def test_a_reference_is_warned_of_unless_every_server_inlines_it(settings):
    tool = hand({**within(**{"$ref": "#/$defs/x"}), "$defs": {"x": {"type": "string"}}})
    settings.DJANGO_MCP = {"SERVERS": {"other": {"INLINE_REFS": True}}}
    assert [id_ for id_, _ in warned(tool)] == ["W014", "W014"]
    settings.DJANGO_MCP = {"INLINE_REFS": True, "SERVERS": {"other": {}}}
    assert warned(tool) == []
