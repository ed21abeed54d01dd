"""References written in place, for clients that do not resolve them."""

from __future__ import annotations

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.schema.inline import inlined

CLOSED = {"additionalProperties": False}
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
        (
            {"$defs": {"n": CLOSED}, "items": {"$ref": "#/$defs/n", "properties": {"a": {}}}},
            {"items": {"properties": {"a": {}}, "allOf": [CLOSED]}},
        ),
        (
            {"$defs": {"n": {"items": NAME}}, "items": {"$ref": "#/$defs/n", "prefixItems": [True]}},
            {"items": {"prefixItems": [True], "allOf": [{"items": NAME}]}},
        ),
        (
            {"$defs": {"n": {"unevaluatedProperties": False}}, "items": {"$ref": "#/$defs/n", "anyOf": [{}]}},
            {"items": {"anyOf": [{}], "allOf": [{"unevaluatedProperties": False}]}},
        ),
        (
            {"$defs": {"n": {"const": 1}}, "items": {"$ref": "#/$defs/n", "const": True}},
            {"items": {"const": True, "allOf": [{"const": 1}]}},
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
        {"$defs": {"n": {"$dynamicAnchor": "n"}}, "items": {"$dynamicRef": "#n"}},
    ],
)
def test_a_recursive_reference_stays_with_what_it_names(schema):
    assert inlined(schema) == schema


KEYS = st.sampled_from(["a", "b"])
PLAIN = st.recursive(
    st.one_of(st.booleans(), st.just({"type": "integer"})),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "title": st.sampled_from(["s", "t"]),
            "minimum": st.sampled_from([0, 1]),
            "properties": st.dictionaries(KEYS, inner, max_size=2),
            "patternProperties": st.dictionaries(st.just("^b"), inner, max_size=1),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "unevaluatedProperties": st.booleans(),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "unevaluatedItems": st.booleans(),
            "contains": inner,
            "minContains": st.integers(0, 2),
            "maxContains": st.integers(0, 2),
            "if": inner,
            "then": inner,
            "else": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.sampled_from([0, 1, "x", None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    ),
    max_leaves=6,
)


@given(PLAIN, PLAIN, PLAIN, VALUES)
def test_what_is_published_accepts_what_is_enforced(beside, target, other, value):
    reference = {"$ref": "#/$defs/target"}
    beside = {**beside, **reference} if isinstance(beside, dict) else reference
    target = {**target, "$ref": "#/$defs/other"} if isinstance(target, dict) else target
    schema = {"$defs": {"target": target, "other": other}, "items": beside, "properties": {"a": beside}}
    written = jsonschema_rs.Draft202012Validator(inlined(schema))
    for one in (value, [value], {"a": value}):
        assert written.is_valid(one) is jsonschema_rs.Draft202012Validator(schema).is_valid(one)
