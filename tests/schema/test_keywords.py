"""Where schemas stand in a schema."""

from __future__ import annotations

from django_mcp.schema.keywords import subschemas


def test_every_schema_in_a_schema_is_found_with_its_path():
    leaf = {"type": "string"}
    schema = {
        "properties": {"a": leaf, "odd key": True, 3: leaf},
        "items": {"not": leaf},
        "anyOf": [leaf, False, 3],
        "$defs": {"d": {"const": {"properties": {"no": "schema, a value"}}}},
        "patternProperties": [leaf],
        "oneOf": {"no": "list"},
        "default": leaf,
        4: leaf,
    }
    assert list(subschemas(schema)) == [
        ("", schema),
        ("properties.a", leaf),
        ('properties["odd key"]', True),
        ("items", {"not": leaf}),
        ("items.not", leaf),
        ("anyOf[0]", leaf),
        ("anyOf[1]", False),
        ('["$defs"].d', {"const": {"properties": {"no": "schema, a value"}}}),
    ]


def test_what_is_no_schema_has_none_in_it():
    assert list(subschemas([{"type": "string"}])) == []


def test_a_schema_that_contains_itself_is_found_once():
    schema = {"type": "array"}
    schema["items"] = schema
    assert list(subschemas(schema)) == [("", schema)]
