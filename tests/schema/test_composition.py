"""What composition adds to a closed object could never be sent."""

from __future__ import annotations

import pytest

from django_mcp.schema.composition import conflicts


def found(**properties):
    root = {"type": "object", "properties": properties}
    return [(path, problem) for path, problem, _ in conflicts(root)]


X, Y = {"properties": {"x": {}}}, {"properties": {"y": {}}}
OPEN_X, CLOSED = {**X, "additionalProperties": True}, {"additionalProperties": False}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_alternatives_add_nothing_to_closed_properties(keyword):
    assert found(p={**X, keyword: [True, X, {"allOf": [Y]}]}) == [
        (f"properties.p.{keyword}", "adds y beside closed properties")
    ]


@pytest.mark.parametrize("keyword", ["if", "then", "else"])
def test_conditions_add_nothing_to_closed_properties(keyword):
    assert found(p={**X, keyword: Y}) == [(f"properties.p.{keyword}", "adds y beside closed properties")]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        (
            {"p": {**X, "dependentSchemas": {"x": Y}}},
            [("properties.p.dependentSchemas", "adds y beside closed properties")],
        ),
        (
            {"p": {"additionalProperties": False, "anyOf": [X]}},
            [("properties.p.anyOf", "adds x beside closed properties")],
        ),
        (
            {"p": {"items": {**X, "$ref": "#/properties/q"}}, "q": {**Y, "additionalProperties": True}},
            [('properties.p.items["$ref"]', "adds y beside closed properties")],
        ),
        (
            {"p": {**X, "allOf": [{"$ref": "#/properties/q"}]}, "q": Y},
            [
                ("properties.p.allOf", "adds y beside closed properties"),
                ("properties.p.allOf[0]", "refuses x, declared beside it"),
            ],
        ),
        (
            {"p": {"$ref": "#/properties/q", "properties": {"x": {}, "y": {}}}, "q": X},
            [('properties.p["$ref"]', "refuses y, declared beside it")],
        ),
        (
            {"p": {"$ref": "#/properties/q", **Y, "additionalProperties": True}, "q": X},
            [('properties.p["$ref"]', "refuses y, declared beside it")],
        ),
        (
            {"p": {"allOf": [{"$ref": "#/properties/q"}, {"$ref": "#/properties/r"}]}, "q": X, "r": Y},
            [
                ("properties.p.allOf[0]", "refuses y, declared beside it"),
                ("properties.p.allOf[1]", "refuses x, declared beside it"),
            ],
        ),
        (
            {"p": {**X, "additionalProperties": True, "allOf": [{"$ref": "#/properties/q"}]}, "q": Y},
            [("properties.p.allOf[0]", "refuses x, declared beside it")],
        ),
        (
            {"p": {**OPEN_X, "$ref": "#/properties/q"}, "q": {"$ref": "#/properties/r"}, "r": Y},
            [('properties.p["$ref"]', "refuses x, declared beside it")],
        ),
        (
            {"p": {**OPEN_X, "anyOf": [{"$ref": "#/properties/q"}, {**Y, **CLOSED}]}, "q": Y},
            [("properties.p.anyOf", "refuses x, declared beside it")],
        ),
        (
            {"p": {**OPEN_X, "allOf": [{"oneOf": [{"allOf": [{**Y, **CLOSED}]}]}]}},
            [("properties.p.allOf[0]", "refuses x, declared beside it")],
        ),
    ],
)
def test_what_can_never_be_sent_is_told(properties, expected):
    assert found(**properties) == expected


@pytest.mark.parametrize(
    "properties",
    [
        {"p": {**X, "allOf": [X, {"required": ["x"]}]}},
        {"p": {**X, "additionalProperties": True, "allOf": [Y]}},
        {"p": {**X, "additionalProperties": {"type": "string"}, "allOf": [Y]}},
        {"p": {**X, "unevaluatedProperties": False, "allOf": [Y]}},
        {"p": {**X, "patternProperties": {"^y": {}}, "allOf": [Y]}},
        {"p": {**X, "anyOf": [{"properties": {"y": False}}]}},
        {"p": {"anyOf": [{**X, "allOf": [Y]}]}},
        {"p": {"$ref": "#/properties/q", "description": "another"}, "q": X},
        {"p": {"$ref": "#/properties/q", **X}, "q": X},
        {"p": {**X, "allOf": [{"$ref": "#/properties/p"}]}},
        {"p": {"properties": {"next": {"$ref": "#/properties/p"}}}},
        {"p": {**OPEN_X, "allOf": [Y]}, "q": Y},
        {"p": {**OPEN_X, "anyOf": [{"$ref": "#/properties/q"}, Y]}, "q": Y},
        {"p": {**OPEN_X, "if": {"$ref": "#/properties/q"}, "then": {**Y, **CLOSED}}, "q": Y},
        {"p": {"oneOf": [{"$ref": "#/properties/q"}, {"$ref": "#/properties/r"}]}, "q": X, "r": Y},
        {"p": {**OPEN_X, "allOf": [{"anyOf": [{"$ref": "#/properties/p"}]}, True]}},
    ],
)
def test_composition_that_adds_nothing_or_stands_in_the_open_is_right(properties):
    assert found(**properties) == []
