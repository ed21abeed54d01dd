"""What a form may ask is what a client can show."""

from __future__ import annotations

import pytest
from django.utils.translation import gettext_lazy

from django_mcp.authoring.forms import Form


def schema(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


FIELDS = [
    {"type": "string"},
    {"type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9, "default": "x"},
    *({"type": "string", "format": name} for name in ("email", "uri", "date", "date-time")),
    {"type": "string", "enum": ["a", "b"], "default": "a"},
    {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
    {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
    {"type": "number", "minimum": 0.5, "maximum": 2, "default": 1.5},
    {"type": "integer", "minimum": 1},
    {"type": "boolean", "default": True},
    {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 2},
    {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "default": ["a"]},
]


@pytest.mark.parametrize("field", FIELDS)
def test_a_form_goes_out_as_it_is_written(field):
    written = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema("f", f=field)}

    assert Form(written).schema == written


def test_its_texts_may_be_lazy_and_its_lists_tuples():
    written = {
        "type": "object",
        "properties": {"f": {"type": "string", "title": gettext_lazy("Name")}},
        "required": ("f",),
    }

    assert Form(written).schema == schema("f", f={"type": "string", "title": "Name"})


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"type": "string"}, 'The form: it lacks the required key "properties".'),
        ({"type": "array", "properties": {}}, 'The form: type must be "object".'),
        (
            {"type": "object", "properties": {}, "additionalProperties": False},
            "The form says 'additionalProperties', which MCP forms do not know.",
        ),
        (schema("g", f={"type": "string"}), "The form requires 'g', which is none of its fields."),
        (
            schema(f={"type": "object"}),
            "Form field 'f' has the type object; MCP forms know string, number, integer, boolean, array.",
        ),
        (
            schema(f={"type": ["string", "null"]}),
            "Form field 'f' has the type ['string', 'null']; MCP forms know string, number, integer, boolean, array.",
        ),
        (
            schema(f={"enum": ["a"]}),
            "Form field 'f' has the type None; MCP forms know string, number, integer, boolean, array.",
        ),
        (
            schema(f={"type": "string", "pattern": "a"}),
            "Form field 'f' says 'pattern', which MCP forms do not know.",
        ),
        (
            schema(f={"type": "string", "format": "ipv4"}),
            'Form field \'f\': format must be one of "email", "uri", "date", "date-time".',
        ),
        (
            schema(f={"type": "array", "items": {}}),
            "Form field 'f': items must have at least 1 property.",
        ),
        (schema(f={"type": "array"}), "Form field 'f': it lacks the required key \"items\"."),
        (schema(f={"type": "string", "minLength": -1}), "Form field 'f': minLength must be at least 0."),
    ],
)
def test_what_no_client_could_show_is_refused(written, problem):
    with pytest.raises(ValueError) as raised:
        Form(written)

    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("field", "sent", "read"),
    [
        ({"type": "string"}, "x", "x"),
        ({"type": "integer"}, 2, 2),
        ({"type": "integer"}, 2.0, 2),
        ({"type": "number"}, 2.0, 2.0),
        ({"type": "boolean"}, False, False),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, ["a"], ["a"]),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "a", "a"),
    ],
)
def test_an_answer_holds_what_was_asked_for(field, sent, read):
    content = Form(schema("f", f=field)).read({"f": sent, "is_staff": True})

    assert (content, type(content["f"])) == ({"f": read}, type(read))


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ({"type": "string"}, None),
        ({"type": "string", "format": "email"}, "ada"),
        ({"type": "integer"}, 2.5),
        ({"type": "integer"}, True),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "b"),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["b"]),
    ],
)
def test_an_answer_that_does_not_fit_is_none(field, sent):
    assert Form(schema("f", f=field)).read({"f": sent}) is None


def test_fields_that_are_not_required_may_be_left_out():
    assert Form(schema(f={"type": "string"})).read({}) == {}
