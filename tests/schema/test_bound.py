"""What is told about a value is bounded, and telling it never fails."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.schema import bound


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__


class Unloadable:
    """Like a lazy object whose value cannot be had: even asking what it is fails."""

    @property
    def __class__(self):
        raise RuntimeError("no")


class HostileError(Exception):
    def __str__(self):
        raise RuntimeError("no")


class Text(str):
    __slots__ = ()

    def __repr__(self):
        raise RuntimeError("no")


loop = []
loop.append(loop)

ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.binary(),
        st.builds(Hostile),
        st.builds(Unloadable),
        st.builds(HostileError),
        st.just(loop),
        st.text(st.characters(categories=["Cs"])),
        st.builds(Text, st.text()),
        st.builds(ValueError, st.text()),
        st.builds(lambda: 2**100_000),
    ),
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner),
        st.tuples(inner),
        st.sets(st.integers()),
    ),
)


@given(ANYTHING)
def test_no_value_makes_any_form_raise(value):
    assert isinstance(bound.render(value), str)
    bound.render(value).encode()
    logged = bound.value(value)
    assert logged is value or logged == bound.render(value)
    if type(value) in (str, Text):
        bound.echo(value).encode()


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("x" * 200, "x" * 200),
        ("x" * 201, f"{'x' * 200}… (201 characters)"),
        ("ü" * 5000, f"{'ü' * 200}… (5000 characters)"),
        ("", ""),
        ("half \ud800", "half ?"),
    ],
)
def test_a_text_is_told_up_to_200_characters_and_then_its_size(sent, told):
    assert bound.render(sent) == bound.echo(sent) == told


def test_an_exception_is_told_by_its_message():
    assert bound.render(ValueError("why")) == "why"


def test_what_cannot_be_shown_is_told_by_its_type():
    assert bound.render(HostileError()) == "<HostileError that cannot be shown>"
    assert bound.render([Hostile()]).startswith("[<Hostile instance at ")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ([7] * 66, f"[{'7, ' * 65}7]"),
        ([7] * 67, f"[{'7, ' * 66}7… (67 items)"),
        ([0] * 10**6, f"[{'0, ' * 66}0… (1000000 items)"),
        (("x" * 500,), f"('{'x' * 198}… (1 item)"),
        (dict.fromkeys(range(10**5), 0), None),
        (frozenset(range(10**5)), None),
        (deque(range(10**5)), None),
    ],
)
def test_a_collection_is_told_up_to_200_characters_and_then_how_many_items_it_has(sent, told):
    assert bound.render(sent) == (told or f"{repr(sent)[:200]}… (100000 items)")


def test_a_long_representation_ends_with_its_whole_size():
    class Long:
        def __repr__(self):
            return "y" * 5000

    assert bound.render(Long()) == f"{'y' * 200}… (5000 characters)"
    assert bound.render(b"z" * 1000) == f"b'{'z' * 198}… (1003 characters)"


def test_a_text_is_told_by_its_own_characters_whatever_its_class_says():
    class Shy(str):
        __slots__ = ()

        def __str__(self):
            return "something else"

    assert bound.render(Shy("as sent")) == bound.echo(Shy("as sent")) == "as sent"


@pytest.mark.parametrize("scalar", [None, True, 3, -(2**60), 1.5])
def test_a_scalar_is_logged_as_itself(scalar):
    assert bound.value(scalar) is scalar


@pytest.mark.parametrize(("value", "logged"), [([1], "[1]"), ("x" * 300, f"{'x' * 200}… (300 characters)")])
def test_anything_else_is_logged_as_bounded_text(value, logged):
    assert bound.value(value) == logged


def test_an_enormous_integer_is_logged_as_bounded_text():
    assert isinstance(bound.value(2**5000), str)
