"""The catalogue of formats."""

from __future__ import annotations

import re

import jsonschema_rs
import pytest

from django_mcp.schema.formats import ANNOTATIONS, BUILT_IN, Formats
from django_mcp.schema.values import SchemaError, ValueGate


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_format_of_the_catalogue_is_asserted(name):
    gate = ValueGate({"format": name}, Formats.of({}))
    assert not gate.is_valid({"regex": "(", "uri-template": "{"}.get(name, " %"))
    assert gate.is_valid(3)


def test_the_catalogue_is_that_of_the_validator():
    known = {
        name
        for name in [*BUILT_IN, "color", "binary", "byte", "iri", "time", "utc-millisec", "host-name"]
        if _known(name)
    }
    assert known == BUILT_IN


def _known(name):
    try:
        jsonschema_rs.Draft202012Validator(
            {"format": name}, validate_formats=True, ignore_unknown_formats=False
        )
    except jsonschema_rs.ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(ANNOTATIONS))
def test_an_annotation_takes_any_string(name):
    assert ValueGate({"format": name}, Formats.of({})).is_valid("anything \x00")


def test_a_site_adds_formats_and_may_replace_annotations():
    formats = Formats.of({"sku": str.isupper, "color": None, "binary": str.isdigit})
    assert formats.names == BUILT_IN | ANNOTATIONS | {"sku", "color"}
    gate = ValueGate(
        {"properties": {"s": {"format": "sku"}, "c": {"format": "color"}, "b": {"format": "binary"}}}, formats
    )
    assert gate.is_valid({"s": "A", "c": "x", "b": "01"})
    assert gate.problems({"s": "a", "b": "x"}) == (
        [("b", ["must be a valid binary"]), ("s", ["must be a valid sku"])],
        2,
    )


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_an_example_of_a_format_is_one(name):
    """A refused date and time mostly lacks its offset, a refused UUID its hyphens."""
    example = Formats.of({}).example(name)
    assert example is None or ValueGate({"format": name}, Formats.of({})).is_valid(example)


def test_a_check_of_the_sites_own_is_told_without_an_example_that_it_may_refuse():
    gate = ValueGate({"format": "date"}, Formats.of({"date": str.isupper}))
    assert gate.problems("2027-01-31") == ([("", ["must be a valid date"])], 1)


def test_an_example_is_told_wherever_the_format_stands():
    schema = {"if": {}, "then": {"anyOf": [{"format": "duration"}, {"type": "null"}]}}
    told = "must satisfy one of: must be a valid duration, such as PT1H30M; or must be of type null (since it matches {})"
    assert ValueGate(schema, Formats.of({})).problems("1h") == ([("", [told])], 1)


def test_an_unknown_format_cannot_be_built():
    with pytest.raises(SchemaError, match="Unknown format"):
        ValueGate({"format": "dat"}, Formats.of({}))


def test_a_parser_refuses_with_a_value_error():
    gate = ValueGate({"format": "hex"}, Formats.of({"hex": bytes.fromhex}))
    assert gate.is_valid("c0ffee")
    assert gate.problems("coffee") == ([("", ["must be a valid hex"])], 1)


def test_what_a_check_returns_counts_by_its_truth():
    gate = ValueGate({"format": "sku"}, Formats.of({"sku": re.compile("[A-Z]+").fullmatch}))
    assert gate.is_valid("ABC")
    assert not gate.is_valid("abc")
