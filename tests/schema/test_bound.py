"""What is told about a value is bounded, and telling it never fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.schema import bound


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    __str__ = __repr__


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
    bound.value(value)
    if isinstance(value, str):
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


def test_a_huge_collection_is_not_written_out():
    assert len(bound.render(list(range(10**6)))) < 240
    assert len(bound.render({str(number): number for number in range(10**5)})) < 240


@pytest.mark.parametrize("scalar", [None, True, 3, -(2**60), 1.5])
def test_a_scalar_is_logged_as_itself(scalar):
    assert bound.value(scalar) is scalar


@pytest.mark.parametrize(("value", "logged"), [([1], "[1]"), ("x" * 300, f"{'x' * 200}… (300 characters)")])
def test_anything_else_is_logged_as_bounded_text(value, logged):
    assert bound.value(value) == logged


def test_an_enormous_integer_is_logged_as_bounded_text():
    assert isinstance(bound.value(2**5000), str)
