"""Strings that carry a format."""

from __future__ import annotations

from typing import Annotated

import pytest
from django.core.exceptions import ValidationError
from pydantic import Field

from django_mcp import formats
from tests.typed.tools import argument, found, taking

#: Name, keyword, a right value, a wrong one.
FORMATS = [
    ("Date", "date", "2027-01-31", "2027-02-30"),
    ("Time", "time", "13:30:00Z", "13:30"),
    ("DateTime", "date-time", "2027-01-31T13:30:00Z", "2027-01-31"),
    ("Email", "email", "ada@site.example", "ada"),
    ("Hostname", "hostname", "localhost", "-x-"),
    ("Ipv4", "ipv4", "127.0.0.1", "127.0.0.256"),
    ("Ipv6", "ipv6", "::1", "::g"),
    ("Uri", "uri", "https://site.example/", "no uri"),
    ("Uuid", "uuid", "00000000-0000-0000-0000-000000000003", "3"),
    ("Regex", "regex", "^a+$", "("),
    ("JsonPointer", "json-pointer", "", "a"),
]


def test_every_format_is_public():
    assert sorted(formats.__all__) == sorted([*(name for name, *_ in FORMATS), "Format"])


@pytest.mark.parametrize(("name", "keyword", "right", "wrong"), FORMATS)
def test_a_format_is_published_described_and_enforced(run, refusal, name, keyword, right, wrong):
    declared = taking(getattr(formats, name))
    published = argument(declared)
    assert (published["type"], published["format"]) == ("string", keyword)
    assert published["description"]
    assert run(declared, {"value": right})["structuredContent"] == {"result": repr(right)}
    [invalid] = refusal(declared, {"value": wrong})["invalid"]
    assert invalid["problems"][0].split(", such as ")[0] == f"must be a valid {keyword}"


def test_a_description_of_ones_own_wins():
    assert (
        argument(taking(Annotated[formats.Ipv4, Field(description="The host")]))["description"] == "The host"
    )


def sku(value):
    if not value.isupper():
        raise ValidationError(f"{value} is no SKU")


def test_a_format_of_ones_own_needs_no_registration(run, refusal):
    declared = taking(Annotated[str, formats.Format("sku", validator=sku)])
    assert argument(declared) == {"type": "string", "format": "sku"}
    assert found(declared) == []
    assert run(declared, {"value": "ABC"})["structuredContent"] == {"result": "'ABC'"}
    assert refusal(declared, {"value": "abc"})["invalid"] == [
        {"path": "value", "problems": ["must be a valid sku"]}
    ]


def test_a_format_without_validator_annotates(run):
    declared = taking(Annotated[str, formats.Format("color", "A color")])
    assert argument(declared) == {"type": "string", "format": "color", "description": "A color"}
    assert run(declared, {"value": "anything"})["structuredContent"] == {"result": "'anything'"}


def test_an_address_that_django_refuses_is_refused(refusal):
    """The validator of schemas takes a domain without a dot."""
    assert refusal(taking(formats.Email), {"value": "ada@site"})["invalid"] == [
        {"path": "value", "problems": ["must be a valid email"]}
    ]
