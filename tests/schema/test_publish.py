"""What is published of actions."""

from __future__ import annotations

import pytest

from django_mcp.schema import publish

PROPERTIES = {"p": {"type": "object", "properties": {"q": {}}}}
CLOSED = {"p": {"type": "object", "properties": {"q": {}}, "additionalProperties": False}}


def test_summaries_are_sorted_and_keep_the_authors_text():
    actions = {"b": {"description": " second\t"}, "a": {"description": "first"}}
    assert publish.summaries(actions) == ["a: first", "b:  second\t"]


@pytest.mark.parametrize(
    ("schema", "digest"),
    [
        ({"properties": PROPERTIES}, {"properties": CLOSED, "required": [], "defaults": {}}),
        (
            {"properties": PROPERTIES, "required": ["p"], "defaults": {"q": 1}, "required_one_of": [["p"]]},
            {"properties": CLOSED, "required": ["p"], "defaults": {"q": 1}, "required_one_of": [["p"]]},
        ),
        (
            {"properties": PROPERTIES, "required_one_of": []},
            {"properties": CLOSED, "required": [], "defaults": {}},
        ),
    ],
)
def test_a_digest_says_what_an_action_takes(schema, digest):
    assert publish.digest(schema, CLOSED) == digest


def test_the_input_schema_names_the_actions_and_none_of_their_constraints():
    actions = {"b": {"description": "second", "properties": PROPERTIES}, "a": {"description": "first"}}
    assert publish.input_schema(actions) == {
        "type": "object",
        "required": ["action"],
        "additionalProperties": False,
        "properties": {
            "action": {"type": "string", "enum": ["a", "b"], "description": "a: first\nb: second"},
            "data": {"type": "object"},
        },
    }


def test_help_shows_the_keys_that_are_declared():
    assert publish.rendered({"description": "x", "properties": PROPERTIES}, CLOSED) == {
        "description": "x",
        "properties": CLOSED,
        "required": [],
    }
    whole = {
        "description": "x",
        "properties": PROPERTIES,
        "required": ["p"],
        "defaults": {},
        "required_one_of": [["p"]],
        "notes": "n",
        "related": [],
        "examples": [{}],
    }
    assert publish.rendered(whole, CLOSED) == {**whole, "properties": CLOSED}


@pytest.mark.parametrize(
    ("sent", "known", "suggested"),
    [
        (["nmae"], ["name", "due"], {"nmae": "name"}),
        (["NAME"], ["name"], {"NAME": "name"}),
        (["zzz"], ["name"], {}),
        (["name"], [], {}),
        (["n" * 65], ["n" * 64], {}),
        (["n" * 64], ["n" * 64], {"n" * 64: "n" * 64}),
        (["tasc"], ["Task", "task"], {"tasc": "Task"}),
        (["aa", "bb"], ["aaa", "bbb"], {"aa": "aaa", "bb": "bbb"}),
    ],
)
def test_a_misspelt_name_suggests_the_nearest(sent, known, suggested):
    assert publish.suggestions(sent, known) == suggested
