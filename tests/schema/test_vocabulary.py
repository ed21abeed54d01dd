"""The rules of an action schema, and that all of them are told at once."""

from __future__ import annotations

import pytest

from django_mcp.schema.formats import Formats
from django_mcp.schema.vocabulary import action_offences

GOOD = {"description": "Do it", "properties": {"p": {}, "q": {"type": "integer"}}}


def told(schema, name="do"):
    found = action_offences(name, schema, Formats.of({}))
    return [(offence.rule, offence.message.removeprefix(f"Action {name}: ")) for offence in found]


def test_a_right_action_has_no_offence():
    schema = {
        **GOOD,
        "required": ["p"],
        "required_one_of": [["p"], ["q"]],
        "defaults": {"q": 3},
        "notes": "one\ntwo",
        "related": ["other"],
        "examples": [{"anything": [1, None]}],
    }
    assert told(schema) == []
    assert told({"description": "", "properties": {}}) == []


@pytest.mark.parametrize(
    ("name", "label"), [(3, "3"), ("", "''"), ("a\nb", "'a\\nb'"), ("a\ud800", "'a\\ud800'")]
)
def test_an_action_name_is_a_string_of_one_line(name, label):
    [offence] = action_offences(name, GOOD, Formats.of({}))
    assert (offence.rule, offence.action, offence.callback) == ("action-name", label, "actions")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ([], [("action-shape", "its schema is [], not a plain dict.")]),
        (
            {},
            [
                ("description-missing", "it has no description."),
                ("properties-missing", "it has no properties."),
            ],
        ),
        (
            {
                3: 4,
                "description": 3,
                "properties": [],
                "required": [3],
                "required_one_of": [3],
                "defaults": [],
                "notes": [],
                "related": [3],
                "examples": [3],
            },
            [
                (
                    "action-keys",
                    "unknown keys 3; known are description, properties, required, required_one_of, defaults, "
                    "notes, related, examples, and the options permission, read_only, destructive, idempotent, "
                    "open_world, background, policy, timeout.",
                ),
                ("description-shape", "description is 3, which is no string."),
                ("properties-shape", "properties is [], not a plain dict."),
                ("required-shape", "required is [3], not a list of property names."),
                ("groups-shape", "required_one_of is [3], not a list of lists of property names."),
                ("defaults-shape", "defaults is [], not a plain dict."),
                ("notes-shape", "notes is [], which is no string."),
                ("related-shape", "related is [3], not a list of action names."),
                ("examples-shape", "examples is [3], not a list of payloads."),
            ],
        ),
        (
            {**GOOD, "description": "a\ud800", "notes": "\udcff"},
            [
                ("description-shape", "description holds a lone surrogate, which no UTF-8 can carry."),
                ("notes-shape", "notes holds a lone surrogate, which no UTF-8 can carry."),
            ],
        ),
        (
            {
                **GOOD,
                "description": "a\nb",
                "required": ["p", "p", "r"],
                "required_one_of": [[], ["q", "q"], ["r"], ["p", "q"], ["q", "p"], ["p"]],
                "defaults": {"p": 1, "s": 2},
            },
            [
                (
                    "description-newline",
                    "description holds a newline, which would break the list of actions.",
                ),
                ("required-duplicate", "required names p twice."),
                ("required-undeclared", "required names r, which properties does not declare."),
                ("group-empty", "required_one_of holds an empty group."),
                ("group-duplicate-name", "the group q, q names q twice."),
                ("group-undeclared", "the group r names r, which properties does not declare."),
                ("group-superset", "the group p, q is dead: q, q already satisfies."),
                ("group-superset", "the group q, p is dead: q, q already satisfies."),
                ("groups-equal", "the group p, q is declared twice."),
                ("group-superset", "the group p, q is dead: p already satisfies."),
                ("group-superset", "the group q, p is dead: p already satisfies."),
                ("defaults-undeclared", "defaults names s, which properties does not declare."),
                ("defaults-required", "p is required and has a default, which would never be used."),
            ],
        ),
        (
            {**GOOD, "properties": {"p": {"format": "dat"}}, "defaults": {"p": (1,)}},
            [
                ("schema-format", "properties.p.format is dat, which is no known format."),
                ("action-value", "defaults: p is a tuple."),
            ],
        ),
        (
            {**GOOD, "examples": [{"p": float("nan")}], "defaults": {3: 1}},
            [
                ("defaults-undeclared", "defaults names 3, which properties does not declare."),
                ("action-value", "defaults: it has the key 3, which is no string."),
                ("action-value", "examples: [0].p is nan, which JSON does not have."),
            ],
        ),
        (
            {**GOOD, "properties": {"p": {"properties": {"a": {}}}}, "defaults": {"p": {"b": 1, "c": 1}}},
            [("defaults-unknown-key", "defaults holds p.b, p.c, which a caller could not send.")],
        ),
    ],
)
def test_all_offences_are_told_at_once(schema, expected):
    assert told(schema) == expected


def test_every_default_that_breaks_its_schema_is_told():
    names = [f"p{number:02}" for number in range(25)]
    schema = {
        "description": "x",
        "properties": {name: {"type": "integer"} for name in names},
        "defaults": dict.fromkeys(names, "x"),
    }
    assert told(schema) == [
        ("defaults-invalid", f"the default at {name} must be of type integer.") for name in names
    ]
