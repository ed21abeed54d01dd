"""The schema that refusals are explained by accepts what the schema accepts."""

from __future__ import annotations

import jsonschema_rs
import pytest

from django_mcp.schema.explain import explaining


def tree(**more):
    return {
        "$defs": {
            "n": {
                "anyOf": [
                    {"type": "integer", "minimum": 1},
                    {"properties": {"a": {"$ref": "#/$defs/n"}}, "type": "object"},
                    {"items": {"$ref": "#/$defs/n"}, "type": "array", "not": {"const": []}},
                ],
                **more,
            }
        },
        "$ref": "#/$defs/n",
    }


RECURSIVE = [
    tree(),
    tree(allOf=[{"not": {"const": 3}}]),
    tree(oneOf=[{"type": "integer"}, {"type": ["object", "array"]}]),
    {"anyOf": [{"type": "integer"}, {"properties": {"a": {"$ref": "#"}}, "type": "object"}]},
    {
        "$dynamicAnchor": "n",
        "oneOf": [{"type": "integer"}, {"items": {"$dynamicRef": "#n"}, "type": "array"}],
    },
]
PLAIN = [
    True,
    {"type": "object"},
    {"anyOf": [{"type": "integer"}, {"oneOf": [True, False]}]},
    {"properties": {"a": {"$ref": "#"}}},
    {"anyOf": [{"items": {"$ref": "#/$defs/x"}}, {"items": {"$ref": "#/$defs/x"}}], "$defs": {"x": {}}},
]
VALUES = [0, 1, 3, "x", None, [], [1], [0], {}, {"a": 1}, {"a": "x"}, {"a": {"a": [1, 0]}}, [[{"a": 1}]]]


@pytest.mark.parametrize("schema", RECURSIVE)
@pytest.mark.parametrize("value", VALUES)
def test_it_accepts_the_same(schema, value):
    explained = explaining(schema)
    assert explained is not schema
    judged = jsonschema_rs.Draft202012Validator(explained)
    assert judged.is_valid(value) is jsonschema_rs.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("schema", PLAIN)
def test_a_schema_whose_alternatives_do_not_lead_back_explains_itself(schema):
    assert explaining(schema) is schema


def test_what_judges_the_unevaluated_is_left_out():
    """What it judges is told by the neighbours, which the copy only asks."""
    assert explaining(tree(unevaluatedProperties=False)) == explaining(tree())
