"""The schema that refusals are explained by accepts what the schema accepts."""

from __future__ import annotations

import jsonschema_rs
import pytest

from django_mcp.schema.explain import briefly, explaining


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


SELF = {"$ref": "#"}
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
A, A_TWICE = {"properties": {"a": SELF}}, [{"properties": {"a": SELF}}, {"properties": {"a": SELF}}]
#: Recursion that leads to one part of a value in several ways.
TANGLED = [
    {"type": "object", "allOf": A_TWICE},
    {"type": "object", "allOf": [{"allOf": A_TWICE}]},
    {"type": "object", "if": {"required": ["a"]}, "then": A, "else": A, **A},
    {"type": "object", **A, "dependentSchemas": {"a": A}},
    {"type": "object", **A, "patternProperties": {"a|b": SELF}},
    {"type": "object", "patternProperties": {"a": SELF, "^a": SELF}},
    {"type": "object", **A, "allOf": [{"additionalProperties": SELF}]},
    {"type": "object", "$ref": "#/$defs/x", "$defs": {"x": A}, **A},
    {"type": "object", "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}], "$defs": {"x": A}},
    {"type": ["object", "array"], "items": SELF, "allOf": [{"prefixItems": [SELF]}]},
    {"type": ["object", "array"], "prefixItems": [SELF], "allOf": [{"prefixItems": [SELF]}], **A},
    {"type": "object", "allOf": A_TWICE, "anyOf": [{"properties": {"b": SELF}}, {"required": ["c"]}]},
    {
        "$dynamicAnchor": "n",
        "type": "object",
        **A,
        "allOf": [{"properties": {"a": {"$dynamicRef": "#n"}}}],
    },
]
#: Recursion of which each part of a value is judged once.
STRAIGHT = [
    {**A, "patternProperties": {"^b": SELF}, "additionalProperties": SELF, "type": "object"},
    {"prefixItems": [SELF, SELF], "items": SELF, **A, "minProperties": 1},
    {
        **A,
        "allOf": [{"properties": {"b": SELF}}, {"items": SELF}, True, {"$ref": "#/$defs/x"}],
        "$defs": {"x": {}},
    },
    {**A, "not": A, "contains": SELF, "if": A, "then": {"properties": {"a": {}}}},
    {**A, "allOf": [{"properties": {"a": {"$ref": "#/$defs/x"}}}], "$defs": {"x": {"allOf": [{}, {}]}}},
]
PLAIN = [
    *STRAIGHT,
    True,
    {"type": "object"},
    {"anyOf": [{"type": "integer"}, {"oneOf": [True, False]}]},
    {"properties": {"a": {"$ref": "#"}}},
    {"anyOf": [{"items": {"$ref": "#/$defs/x"}}, {"items": {"$ref": "#/$defs/x"}}], "$defs": {"x": {}}},
]
VALUES = [0, 1, 3, "x", None, [], [1], [0], {}, {"a": 1}, {"a": "x"}, {"a": {"a": [1, 0]}}, [[{"a": 1}]]]


@pytest.mark.parametrize("schema", [*RECURSIVE, *TANGLED])
@pytest.mark.parametrize("value", VALUES)
def test_it_accepts_the_same(schema, value):
    explained = explaining(schema)
    assert explained is not schema
    judged = jsonschema_rs.Draft202012Validator(explained)
    assert judged.is_valid(value) is jsonschema_rs.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("schema", PLAIN)
def test_a_schema_of_which_nothing_is_told_twice_explains_itself(schema):
    assert explaining(schema) is schema


@pytest.mark.parametrize("schema", [*RECURSIVE, *[one for one in PLAIN if "anyOf" in str(one)]])
@pytest.mark.parametrize("value", VALUES)
def test_a_brief_one_accepts_the_same(schema, value):
    judged = jsonschema_rs.Draft202012Validator(briefly({"$id": "https://site.example/s", **schema}))
    assert judged.is_valid(value) is jsonschema_rs.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("schema", [*STRAIGHT, True])
def test_without_alternatives_there_is_no_briefer_one(schema):
    assert briefly(schema) is schema


def test_what_judges_the_unevaluated_is_left_out():
    """What it judges is told by the neighbours, which the copy only asks."""
    told = explaining(tree(unevaluatedProperties=False))
    assert {**told, "x-whole": None} == {**explaining(tree()), "x-whole": None}
