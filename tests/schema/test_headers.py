"""Mirrored arguments: which ones, by which header."""

from __future__ import annotations

import pytest

from django_mcp.schema.headers import HeaderRow, annotation_offences, rows

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "plain": {"type": "string"},
        "open": True,
        "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "Deep-N"}}},
    },
    "examples": [{"x-mcp-header": "no annotation, a value"}],
}


def test_annotated_properties_are_mirrored_at_any_depth():
    assert rows(SCHEMA) == (
        HeaderRow(("region",), "Mcp-Param-Region", "HTTP_MCP_PARAM_REGION", "string"),
        HeaderRow(("deep", "n"), "Mcp-Param-Deep-N", "HTTP_MCP_PARAM_DEEP_N", "integer"),
    )
    assert annotation_offences(SCHEMA) == []


@pytest.mark.parametrize("schema", [{"type": "object"}, {"properties": {}}, {"properties": {"a": True}}])
def test_without_annotations_nothing_is_mirrored(schema):
    assert rows(schema) == ()
    assert annotation_offences(schema) == []


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"x-mcp-header": "Root"}, "stands at 1 places that are not reached through properties alone"),
        (
            {
                "$defs": {"a": {"type": "string", "x-mcp-header": "A"}},
                "anyOf": [{"properties": {"b": {"x-mcp-header": "B"}}}],
            },
            "stands at 2 places that are not reached through properties alone",
        ),
        ({"properties": {"a": {"type": "string", "x-mcp-header": 3}}}, "a has x-mcp-header '3'"),
        ({"properties": {"a": {"x-mcp-header": "A"}}}, "a has x-mcp-header and the type None"),
        (
            {
                "properties": {
                    "a": {"type": "string", "x-mcp-header": "Region"},
                    "b": {"type": "string", "x-mcp-header": "REGION"},
                }
            },
            "b and a have the same x-mcp-header 'REGION', case ignored",
        ),
    ],
)
def test_an_annotation_no_client_or_server_could_use_is_an_offence(schema, problem):
    [offence] = annotation_offences(schema)
    assert (offence.rule, offence.callback) == ("header-annotation", "input_schema")
    assert problem in offence.message


def test_properties_may_have_the_names_of_keywords():
    schema = {
        "properties": {
            "default": {"type": "string", "x-mcp-header": "A"},
            "x-mcp-header": {"type": "string"},
            3: {"type": "string", "x-mcp-header": "another rule's offence"},
        }
    }
    assert annotation_offences(schema) == []


def test_a_schema_that_contains_itself_is_looked_at_once():
    schema = {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    schema["properties"]["b"] = schema
    assert annotation_offences(schema) == []
