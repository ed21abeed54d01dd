"""What a schema calls secret is masked wherever the schema has it, and nothing else is."""

from __future__ import annotations

import copy

import pytest

from django_mcp.schema.secrets import MASK, masked

PASSWORD = {"type": "string", "format": "password"}
WRITE_ONLY = {"type": "string", "writeOnly": True}
TREE = {"properties": {"pin": PASSWORD, "inner": {"$ref": "#/$defs/tree"}}}


@pytest.mark.parametrize(
    ("schema", "value", "shown"),
    [
        (PASSWORD, "s", MASK),
        (WRITE_ONLY, {"any": ["s"]}, MASK),
        ({"type": "string", "writeOnly": False, "format": "date"}, "s", "s"),
        (
            {"properties": {"pin": PASSWORD, "name": {}}},
            {"pin": "s", "name": "n"},
            {"pin": MASK, "name": "n"},
        ),
        ({"properties": {"pin": PASSWORD}}, ["pin"], ["pin"]),
        (
            {"properties": {"a": {"properties": {"pin": PASSWORD}}}},
            {"a": {"pin": None, "b": 1}, "pin": 2},
            {"a": {"pin": MASK, "b": 1}, "pin": 2},
        ),
        ({"patternProperties": {"^k_": PASSWORD}}, {"k_1": "s", "n": "n"}, {"k_1": MASK, "n": "n"}),
        (
            {"properties": {"n": {}}, "additionalProperties": WRITE_ONLY},
            {"n": "n", "x": "s"},
            {"n": "n", "x": MASK},
        ),
        (
            {"properties": {"n": {}}, "unevaluatedProperties": PASSWORD},
            {"n": "n", "x": 1},
            {"n": "n", "x": MASK},
        ),
        ({"items": {"properties": {"pin": PASSWORD}}}, [{"pin": "s"}, 1], [{"pin": MASK}, 1]),
        ({"prefixItems": [{}, PASSWORD]}, ["n", "s", "n"], ["n", MASK, "n"]),
        ({"prefixItems": [{}], "items": PASSWORD}, ["n", "s"], ["n", MASK]),
        ({"prefixItems": [{}], "unevaluatedItems": PASSWORD}, ["n", "s"], ["n", MASK]),
        ({"contains": PASSWORD}, ["s"], [MASK]),
        ({"anyOf": [{"type": "null"}, PASSWORD]}, "s", MASK),
        ({"oneOf": [{"properties": {"pin": PASSWORD}}, {}]}, {"pin": "s"}, {"pin": MASK}),
        ({"allOf": [{"allOf": [{"properties": {"pin": PASSWORD}}]}]}, {"pin": "s"}, {"pin": MASK}),
        ({"if": {}, "then": {"properties": {"pin": PASSWORD}}}, {"pin": "s"}, {"pin": MASK}),
        ({"if": {}, "else": {"properties": {"pin": PASSWORD}}}, {"pin": "s"}, {"pin": MASK}),
        ({"dependentSchemas": {"a": {"properties": {"pin": PASSWORD}}}}, {"pin": "s"}, {"pin": MASK}),
        ({"$defs": {"pin": PASSWORD}, "properties": {"a": {"$ref": "#/$defs/pin"}}}, {"a": "s"}, {"a": MASK}),
        ({"$defs": {"pin": {"$anchor": "p", **PASSWORD}}, "items": {"$ref": "#p"}}, ["s"], [MASK]),
        (
            {"$defs": {"tree": TREE}, "$ref": "#/$defs/tree"},
            {"pin": "s", "inner": {"pin": "s", "inner": {"n": 1}}},
            {"pin": MASK, "inner": {"pin": MASK, "inner": {"n": 1}}},
        ),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}, "pin": PASSWORD}, "$ref": "#/$defs/a"}, "n", "n"),
        (
            {
                "properties": {
                    "j": {"contentSchema": {"properties": {"pin": PASSWORD}}},
                    "k": {"contentSchema": {}},
                }
            },
            {"j": '{"pin":"s"}', "k": "{}"},
            {"j": MASK, "k": "{}"},
        ),
        (
            {"properties": {"pin": True, "a": PASSWORD}, "additionalProperties": False},
            {"pin": 1, "b": 2},
            ...,
        ),
        ({"properties": {"properties": {"format": "date"}}}, {"properties": "n"}, ...),
    ],
)
def test_secrets_are_masked(schema, value, shown):
    before = copy.deepcopy(value)

    assert masked(value, schema) == (before if shown is ... else shown)
    assert value == before
