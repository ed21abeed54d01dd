"""Words in a schema that are nearly keywords."""

from __future__ import annotations

import pytest
from jsonschema_specifications import REGISTRY

from django_mcp.schema.misspelt import KEYWORDS, offences


def found(schema):
    return [(offence.message, offence.fix) for offence in offences(schema, callback="input_schema")]


def test_the_keywords_are_those_of_the_dialect():
    vocabularies = [REGISTRY[uri].contents for uri in REGISTRY if "2020-12" in uri]
    assert {keyword for one in vocabularies for keyword in one.get("properties", {})} == KEYWORDS


@pytest.mark.parametrize(
    ("word", "meant"),
    [("minLenght", "minLength"), ("minlength", "minLength"), ("typ", "type"), ("require", "required")],
)
def test_a_word_that_is_nearly_a_keyword_is_told_wherever_it_stands(word, meant):
    told = f"input_schema: properties.a.items.{word} is no keyword, so it has no effect."
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {word: 1}}}}
    assert found(schema) == [(told, f"Did you mean {meant}?")]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"typ": {}, "require": {}}},
        {"x-mcp-header": "A", "unit": "kg", "note": "", "label": ""},
        {"examples": [{"typ": 1}], "default": {"typ": 1}, "const": {"typ": 1}},
        {"t" * 100: 1, 3: 1},
        {"additionalProperties": False},
        True,
        None,
    ],
)
def test_what_is_an_authors_own_or_a_value_is_left_alone(schema):
    assert found(schema) == []
