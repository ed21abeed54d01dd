"""Local references (RFC 6901) are resolved in the schema they stand in."""

from __future__ import annotations

import pytest

from django_mcp.schema import pointers

ROOT = {
    "$defs": {"a": {"type": "string"}, "odd/key~": {"x": 1}, "space key": 2},
    "prefixItems": [{"first": True}, {"second": True}],
}


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", ROOT),
        ("#/$defs/a", {"type": "string"}),
        ("#/$defs/odd~1key~0", {"x": 1}),
        ("#/$defs/space%20key", 2),
        ("#/prefixItems/1", {"second": True}),
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
        "#anchor",
        "http://x",
        None,
        3,
    ],
)
def test_anything_else_leads_nowhere(reference):
    assert pointers.resolve(reference, ROOT) is pointers.NOWHERE
