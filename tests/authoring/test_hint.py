"""A hint is checked where it is made, not where it is sent."""

from __future__ import annotations

import pytest

from django_mcp import Hint

RIGHT = {"tool": "tasks", "action": "get", "description": "View it"}


def test_a_hint_names_a_call():
    hint = Hint(**RIGHT, example={"data": {"id": 1}})
    assert (hint.tool, hint.action, hint.description, hint.example) == (
        "tasks",
        "get",
        "View it",
        {"data": {"id": 1}},
    )
    assert hint.wire() == {**RIGHT, "example": {"data": {"id": 1}}}


def test_an_example_that_is_not_given_is_not_published():
    assert Hint(**RIGHT).wire() == RIGHT


def test_a_hint_may_name_a_tool_without_actions():
    assert Hint(tool="search", description="Search").wire() == {"tool": "search", "description": "Search"}


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field in RIGHT for value in (None, 3, b"x") if (field, value) != ("action", None)],
)
def test_what_is_no_string_is_refused(field, value):
    with pytest.raises(TypeError, match=f"Hint.{field} must be a string, not {type(value).__name__}."):
        Hint(**{**RIGHT, field: value})


@pytest.mark.parametrize("field", RIGHT)
def test_an_empty_string_is_refused(field):
    with pytest.raises(ValueError, match=f"Hint.{field} must not be empty."):
        Hint(**{**RIGHT, field: ""})


@pytest.mark.parametrize("example", [[1], "x", 3])
def test_an_example_is_a_mapping(example):
    with pytest.raises(TypeError, match=r"Hint.example must be a mapping or None"):
        Hint(**RIGHT, example=example)


@pytest.mark.parametrize("fields", [{**RIGHT, "acton": "x"}, {"tool": "t", "action": "a"}])
def test_unknown_and_missing_fields_are_refused(fields):
    with pytest.raises(TypeError):
        Hint(**fields)


def test_fields_are_named():
    with pytest.raises(TypeError):
        Hint("tasks", "get", "View it")
