"""What widely used clients refuse is warned of."""

from __future__ import annotations

import pytest

from django_mcp.schema import portable

PLAIN = {"type": "object", "properties": {}}


def rules(name="tool", description="x", input_schema=PLAIN, output_schema=None):
    return [offence.rule for offence in portable.offences(name, description, input_schema, output_schema)]


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ({}, []),
        ({"input_schema": None}, []),
        ({"name": "a" * 64, "description": "x" * 1024}, []),
        ({"name": "a" * 65, "description": "x" * 1025}, ["portable-name", "portable-description"]),
        (
            {"input_schema": {"type": "object", "not": {}}},
            ["portable-root-composition", "portable-properties"],
        ),
        ({"output_schema": {"type": "array"}}, ["portable-output-root"]),
        ({"output_schema": {**PLAIN, "additionalProperties": False}}, []),
        ({"output_schema": {**PLAIN, "items": True}}, ["portable-boolean"]),
        (
            {"input_schema": {**PLAIN, "$defs": {"a": {}}, "items": {"$ref": "#/$defs/a"}}},
            ["portable-ref"] * 2,
        ),
        (
            {"input_schema": {"type": "object", "properties": {"a": {"type": ["null"]}}}},
            ["portable-type-list"],
        ),
    ],
)
def test_a_published_tool_is_judged_by_what_clients_take(published, expected):
    assert rules(**published) == expected


def test_a_warning_says_what_to_write_and_refuses_nothing():
    [offence] = portable.offences("tool", "x", {**PLAIN, "items": False}, None)
    assert (offence.message, offence.fix, offence.callback, offence.warning) == (
        "input_schema items is the schema false, which some clients cannot read.",
        "Write a schema with a type.",
        "input_schema",
        True,
    )
