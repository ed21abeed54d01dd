"""What a schema must be before a validator is built of it."""

from __future__ import annotations

import re
from collections import OrderedDict
from decimal import Decimal

import pytest

from django_mcp.schema import strict
from django_mcp.schema.formats import Formats

FORMATS = Formats.of({"sku": None})


def told(schema, **owner):
    found = strict.schema_offences(schema, FORMATS, callback="output_schema", **owner)
    return [(offence.rule, offence.message.removeprefix("output_schema: ")) for offence in found]


class Word(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (3, [("schema-shape", "the schema is 3, where a schema belongs.")]),
        ({True: {}}, [("schema-key", "the schema has the key True, which is no string.")]),
        ({None: {}}, [("schema-key", "the schema has the key None, which is no string.")]),
        (
            {"properties": {Word("a"): {}}},
            [("schema-key", "properties has the key a, which is no plain string.")],
        ),
        ({"a\ud800": 1}, [("schema-key", "the schema has the key a?, which no UTF-8 can carry.")]),
        ({"$defs": {3: {4: 5}}}, [("schema-key", '["$defs"] has the key 3, which is no string.')]),
        (
            {"const": {"a": [{5: 1}]}},
            [("schema-key", "const.a[0] has the key 5, which is no string.")],
        ),
        (
            {
                "properties": [],
                "$defs": "x",
                "patternProperties": None,
                "dependentSchemas": 3,
                "definitions": 1,
            },
            [
                ("schema-map", '["$defs"] is x, not a dict of schemas.'),
                ("schema-map", "definitions is 1, not a dict of schemas."),
                ("schema-map", "dependentSchemas is 3, not a dict of schemas."),
                ("schema-map", "patternProperties is None, not a dict of schemas."),
                ("schema-map", "properties is [], not a dict of schemas."),
            ],
        ),
        (
            {"additionalProperties": OrderedDict(a={})},
            [
                (
                    "schema-additional-properties",
                    f"additionalProperties is {OrderedDict(a={})!r}, which is neither true, false nor a schema.",
                ),
                (
                    "schema-value",
                    f"additionalProperties is {OrderedDict(a={})!r}, a collections.OrderedDict, which JSON cannot carry.",
                ),
            ],
        ),
        ({"enum": [("a",)]}, [("schema-value", "enum[0] is a tuple.")]),
        ({"title": "\udcff"}, [("schema-value", "title is ?, which no UTF-8 can carry.")]),
        (
            {"pattern": re.compile("a"), "const": Decimal(1), "default": b"x", "examples": {1}},
            [
                ("schema-value", "pattern is re.compile('a'), a re.Pattern, which JSON cannot carry."),
                ("schema-value", "const is Decimal('1'), a decimal.Decimal, which JSON cannot carry."),
                ("schema-value", "default is b'x', a builtins.bytes, which JSON cannot carry."),
                ("schema-value", "examples is {1}, a builtins.set, which JSON cannot carry."),
            ],
        ),
        (
            {"minimum": float("nan"), "maximum": float("-inf")},
            [
                ("schema-number", "minimum is nan, which JSON does not have."),
                ("schema-number", "maximum is -inf, which JSON does not have."),
            ],
        ),
        (
            {"anyOf": [3], "not": "x", "properties": {"a": None}},
            [
                ("schema-shape", "anyOf[0] is 3, where a schema belongs."),
                ("schema-shape", "not is x, where a schema belongs."),
                ("schema-shape", "properties.a is None, where a schema belongs."),
            ],
        ),
        (
            {"definitions": {"unused": {"format": "dat"}}},
            [("schema-format", "definitions.unused.format is dat, which is no known format.")],
        ),
        (
            {"items": {"$schema": ["draft-07"], "$id": "x"}},
            [
                ("schema-dialect", "items[\"$schema\"] is ['draft-07'], a dialect that is not supported."),
                ("schema-id", 'items["$id"] gives the schema another base for its references.'),
            ],
        ),
        (
            {"$ref": "other.json#/a"},
            [("schema-ref-remote", '["$ref"] is other.json#/a; a remote reference is never fetched.')],
        ),
        (
            {"$ref": "#gone"},
            [("schema-ref-unresolved", '["$ref"] is #gone, which leads nowhere in this schema.')],
        ),
        (
            {"$ref": "#/$defs/a%2Fb", "$defs": {"a/b": {}}},
            [("schema-ref-unresolved", '["$ref"] is #/$defs/a%2Fb, which leads nowhere in this schema.')],
        ),
        (
            {"$ref": "#/prefixItems/01", "prefixItems": [{}, {}]},
            [("schema-ref-unresolved", '["$ref"] is #/prefixItems/01, which leads nowhere in this schema.')],
        ),
        (
            {"items": {"$ref": "#/properties"}, "properties": {"properties": {}}},
            [("schema-ref-unresolved", 'items["$ref"] is #/properties, where no schema stands.')],
        ),
        ({"$ref": "#"}, [("schema-ref-unresolved", '["$ref"] is #, which leads only back to itself.')]),
        (
            {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
            [
                (
                    "schema-ref-unresolved",
                    '["$defs"].a["$ref"] is #/$defs/b, which leads only back to itself.',
                ),
                (
                    "schema-ref-unresolved",
                    '["$defs"].b["$ref"] is #/$defs/a, which leads only back to itself.',
                ),
            ],
        ),
        (
            {"$ref": 3},
            [("schema-unbuildable", "[\"$ref\"] breaks the meta-schema: 3 is not of type 'string'.")],
        ),
        (
            {"items": [{}], "required": "x"},
            [
                (
                    "schema-unbuildable",
                    "items breaks the meta-schema: [{}] is not of type 'object', 'boolean'.",
                ),
                ("schema-unbuildable", "required breaks the meta-schema: 'x' is not of type 'array'."),
            ],
        ),
        (
            {"$ref": "#/$defs/a b", "$defs": {"a b": {}}},
            [
                (
                    "schema-unbuildable",
                    "the schema cannot be built: Invalid URI reference '#/$defs/a b': unexpected character at index 9.",
                )
            ],
        ),
    ],
)
def test_every_offence_is_told_with_its_place(schema, expected):
    found = told(schema)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"format": "sku", "items": {"format": "binary"}},
        {"$id": "https://example.com/tool", "$schema": strict.DIALECT},
        {"$schema": f"{strict.DIALECT}#"},
        {"properties": {"next": {"$ref": "#"}}},
        {"items": {"$ref": "#here"}, "$defs": {"a": {"$anchor": "here"}}},
        {"$ref": "#/$defs/a%25b~1c~0", "$defs": {"a%b/c~": True}},
        {"prefixItems": [True, {"$ref": "#/prefixItems/0"}], "enum": [{"type": "no schema"}]},
        {"properties": {"a": {}}, "additionalProperties": False, "allOf": [{"properties": {"b": {}}}]},
        {"minimum": 2**100},
    ],
)
def test_a_sound_schema_has_no_offence(schema):
    assert told(schema) == []


def test_a_schema_that_contains_itself_is_told_and_left():
    schema = {"properties": {}}
    schema["properties"]["a"] = schema
    assert told(schema) == [("schema-cycle", "properties.a contains itself.")]


def test_a_schema_that_stands_in_two_places_does_not_contain_itself():
    shared = {"type": "string"}
    assert told({"properties": {"a": shared, "b": shared}}) == []


def test_a_schema_is_at_most_a_hundred_levels_deep():
    schema = {}
    for _ in range(99):
        schema = {"not": schema}
    assert told(schema) == []
    [(rule, message)] = told({"not": schema})
    assert (rule, message.endswith(" is nested more than 100 levels deep.")) == ("schema-too-deep", True)


def test_in_an_action_what_composition_cannot_add_is_told():
    schema = {
        "type": "object",
        "properties": {"p": {"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}},
    }
    assert told(schema) == []
    assert told(schema, action="do") == [
        ("schema-composition", "Action do: properties.p.allOf adds b beside closed properties.")
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, None, {"properties": 3, "$ref": "x", "format": "dat"}]}, []),
        ([{"a": {2: 3}}], [("schema-key", "[0].a", "has the key 2, which is no string")]),
        (float("inf"), [("schema-number", "", "is inf, which JSON does not have")]),
        ((), [("schema-value", "", "is a tuple")]),
    ],
)
def test_a_declared_value_is_json(value, expected):
    assert [(fault.rule, fault.path, fault.problem) for fault in strict.value_faults(value)] == expected
