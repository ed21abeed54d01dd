"""Local references (RFC 6901) are resolved in the schema they stand in."""

from __future__ import annotations

import pytest

from django_mcp.schema import pointers

ROOT = {
    "$defs": {"a": {"type": "string"}, "odd/key~": {"x": 1}, "space key": 2},
    "prefixItems": [{"first": True}, {"second": True}],
    "items": {"anyOf": [True, {"$anchor": "here"}], "not": {"$dynamicAnchor": "there"}},
    "const": {"$anchor": "no-schema"},
}


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", ROOT),
        ("#/$defs/a", {"type": "string"}),
        ("#/$defs/odd~1key~0", {"x": 1}),
        ("#/$defs/space%20key", 2),
        ("#/prefixItems/1", {"second": True}),
        ("#here", {"$anchor": "here"}),
        ("#there", {"$dynamicAnchor": "there"}),
    ],
)
def test_a_reference_leads_to_its_place(reference, target):
    assert pointers.resolve(reference, ROOT) is target or pointers.resolve(reference, ROOT) == target


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/b",
        "#/prefixItems/2",
        "#/prefixItems/-1",
        "#/prefixItems/x",
        "#/$defs/a/type/x",
        "#/prefixItems/01",
        "#/prefixItems/\u0661",
        "#anchor",
        "http://x",
        None,
        3,
    ],
)
def test_anything_else_leads_nowhere(reference):
    assert pointers.resolve(reference, ROOT) is pointers.NOWHERE


@pytest.mark.parametrize(
    ("reference", "schema_stands_there"),
    [
        ("#", True),
        ("#anchor", True),
        ("#/properties/a", True),
        ("#/properties/properties/items", True),
        ("#/anyOf/0/not", True),
        ("#/definitions/a", True),
        ("#/properties", False),
        ("#/properties/a/const", False),
        ("#/anyOf", False),
        ("#/components/schemas/a", False),
    ],
)
def test_a_reference_leads_to_a_schema_or_into_the_middle_of_a_value(reference, schema_stands_there):
    assert pointers.leads_to_schema(reference) is schema_stands_there
