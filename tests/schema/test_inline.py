"""References written in place, for clients that do not resolve them."""

from __future__ import annotations

import pytest

from django_mcp.schema.inline import inlined

NAME = {"type": "string", "description": "A name"}


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "object"}, {"type": "object"}),
        (
            {"$defs": {"n": NAME}, "properties": {"a": {"$ref": "#/$defs/n"}, "b": True}},
            {"properties": {"a": NAME, "b": True}},
        ),
        (
            {"definitions": {"n": NAME}, "items": {"$ref": "#/definitions/n", "description": "Another"}},
            {"items": {"type": "string", "description": "Another"}},
        ),
        (
            {
                "$defs": {"n": NAME, "l": {"items": {"$ref": "#/$defs/n"}}},
                "anyOf": [{"$ref": "#/$defs/l"}, False],
            },
            {"anyOf": [{"items": NAME}, False]},
        ),
        (
            {"$defs": {"n": NAME}, "properties": {"$ref": {"const": {"$ref": "#/$defs/n"}}}},
            {"properties": {"$ref": {"const": {"$ref": "#/$defs/n"}}}},
        ),
        (
            {
                "$defs": {"n": {"minLength": 3, "type": "string"}},
                "items": {"$ref": "#/$defs/n", "minLength": 1},
            },
            {"items": {"minLength": 1, "allOf": [{"minLength": 3, "type": "string"}]}},
        ),
        (
            {"$defs": {"n": {"allOf": [True]}}, "items": {"$ref": "#/$defs/n", "allOf": [False]}},
            {"items": {"allOf": [{"allOf": [True]}, False]}},
        ),
        (
            {"$defs": {"n": {"minLength": 3}}, "items": {"$ref": "#/$defs/n", "minLength": 3}},
            {"items": {"minLength": 3}},
        ),
        (
            {"$defs": {"n": {"$anchor": "n", "type": "null"}}, "items": {"$ref": "#n"}},
            {"items": {"$anchor": "n", "type": "null"}},
        ),
    ],
)
def test_a_reference_is_replaced_by_what_it_names(schema, written):
    assert inlined(schema) == written


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
        {"items": {"$ref": "#"}},
    ],
)
def test_a_recursive_reference_stays_with_what_it_names(schema):
    assert inlined(schema) == schema
