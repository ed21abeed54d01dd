from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pydantic
import pydantic.dataclasses
import pytest
from django.contrib.auth.models import Group
from django.db import models
from django.http import JsonResponse, QueryDict
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy, override
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.encoding import codec
from django_mcp.encoding.normalise import MAX_DEPTH, EncodingError, normalise

FLATTER = "Return it flatter."
NO_CYCLES = "Return data without cycles, an id in the place of the inner value."
CLEAN = 'Clean the text, as in text.encode("utf-8", "replace").decode().'
NO_NUMBER = "Return None or a string."
STRING_KEYS = "Keys of JSON objects are strings: write str(key)."
CONVERT = "Convert it to a mapping, a list, a string or a number."
TEXT = "Return text: base64.b64encode(data).decode(), or data.decode() where it is text."
FIELDS = 'Choose the fields to send, as in Group.objects.values("id", ...).'
INSTANCE_FIELDS = 'Choose the fields to send, as in {"id": instance.id, ...} or .values("id", ...).'
UTC = datetime.UTC


class Colour(models.TextChoices):
    RED = "r", gettext_lazy("Yes")


class Size(models.IntegerChoices):
    SMALL = 3


class Shape(enum.Enum):
    ROUND = decimal.Decimal("1.5")


class Whole(int):
    pass


class Real(float):
    pass


Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Order:
    at: datetime.date
    lines: Any = ()


@pydantic.dataclasses.dataclass
class Line:
    quantity: int
    key: pydantic.SecretStr


class Customer(pydantic.BaseModel):
    full_name: str = pydantic.Field(serialization_alias="fullName")
    key: pydantic.SecretStr = pydantic.SecretStr("hunter2")
    since: datetime.date = datetime.date(2026, 1, 2)
    more: Any = None


class Unwritable(pydantic.BaseModel):
    value: int = 1

    @pydantic.field_serializer("value")
    def write(self, value: int) -> int:
        raise KeyError("no rate")


def refusal(value: Any) -> tuple[str, str, str]:
    with pytest.raises(EncodingError) as caught:
        normalise(value)
    error = caught.value
    assert str(error) == f"{error.path or 'The value'} is {error.problem}. {error.remedy}"
    return error.path, error.problem, error.remedy


def plain(value: Any) -> Any:
    """The value, every part of which is of exactly a JSON type."""
    done = normalise(value)
    pending = [done]
    while pending:
        item = pending.pop()
        assert type(item) in (dict, list, str, int, float, bool, type(None))
        if type(item) is dict:
            pending += [*item, *item.values()]
        elif type(item) is list:
            pending += item
    return done


def test_a_plain_value_is_returned_as_it_is() -> None:
    value = {"a": [1, 2.5, True, None, "ä"], "b": {"c": [], "größe": {}}, "n": 10**40}
    assert normalise(value) is value


def test_a_converted_part_leaves_the_authors_value_alone() -> None:
    untouched = {"kept": [1]}
    value = {"when": datetime.date(2026, 1, 2), "untouched": untouched, "rows": [[1], (2,)]}
    done = plain(value)
    assert done == {"when": "2026-01-02", "untouched": {"kept": [1]}, "rows": [[1], [2]]}
    assert done["untouched"] is untouched
    assert value == {"when": datetime.date(2026, 1, 2), "untouched": untouched, "rows": [[1], (2,)]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (decimal.Decimal("1.10"), "1.10"),
        (decimal.Decimal("1E+30"), "1E+30"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), "2026-01-02T03:04:05.678901Z"),
        (
            datetime.datetime(2026, 7, 2, 3, 4, tzinfo=ZoneInfo("Asia/Kolkata")),
            "2026-07-02T03:04:00+05:30",
        ),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.time(3, 4, 5, 6), "03:04:05.000006"),
        (datetime.timedelta(days=1, hours=2, microseconds=3), "P1DT02H00M00.000003S"),
        (-datetime.timedelta(minutes=5), "-P0DT00H05M00S"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "r"),
        (Size.SMALL, 3),
        (Shape.ROUND, "1.5"),
        (Whole(7), 7),
        (Real(0.5), 0.5),
        (mark_safe("<b>é</b>"), "<b>é</b>"),
        ((1, (2,)), [1, [2]]),
        (Pair(1, "x"), [1, "x"]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (types.MappingProxyType({"a": (1,)}), {"a": [1]}),
        (QueryDict("a=1&a=2&b=3"), {"a": "2", "b": "3"}),
        ({mark_safe("key"): 1, Colour.RED: 2, "ключ": 3}, {"key": 1, "r": 2, "ключ": 3}),
        (Order(datetime.date(2026, 1, 2), [Shape.ROUND]), {"at": "2026-01-02", "lines": ["1.5"]}),
        (pydantic.SecretStr("hunter2"), "**********"),
        (pydantic.SecretStr(""), "**********"),
        ({"key": pydantic.SecretBytes(b"hunter2")}, {"key": "**********"}),
        (Line(2, pydantic.SecretStr("hunter2")), {"quantity": 2, "key": "**********"}),
        (SimpleLazyObject(lambda: {"a": (1,)}), {"a": [1]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_become_json(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    assert plain({"rows": [value]}) == {"rows": [expected]}


@pytest.mark.parametrize("use_tz", [True, False])
def test_a_naive_datetime_is_in_the_sites_time_zone(settings: Any, use_tz: bool) -> None:
    settings.USE_TZ, settings.TIME_ZONE = use_tz, "Europe/Berlin"
    assert plain(datetime.datetime(2026, 7, 2, 12)) == "2026-07-02T12:00:00+02:00"


def test_a_lazy_string_is_in_the_active_language() -> None:
    with override("de"):
        assert plain([gettext_lazy("Yes")]) == ["Ja"]
    with override("fr"):
        assert plain([gettext_lazy("Yes")]) == ["Oui"]


def test_a_set_becomes_an_array_in_one_order() -> None:
    assert plain({"b", "ä", 3, 2.5, True, None, decimal.Decimal("9"), 10}) == [
        *(None, True, 2.5, 3, 10),
        *("9", "b", "ä"),
    ]
    assert plain(frozenset()) == []


def test_a_pydantic_model_is_what_it_serializes_to() -> None:
    assert plain({"c": Customer(full_name="Ann", more={1: Shape.ROUND})}) == {
        "c": {"fullName": "Ann", "key": "**********", "since": "2026-01-02", "more": {"1": "1.5"}}
    }


def test_what_pydantic_does_not_know_inside_a_model_is_normalised() -> None:
    with override("de"):
        done = plain(
            Customer(full_name="Ann", more=[gettext_lazy("Yes"), types.MappingProxyType({"a": (1,)})])
        )
    assert done["more"] == ["Ja", {"a": [1]}]


@pytest.mark.django_db
def test_rows_of_values_querysets_become_arrays() -> None:
    Group.objects.create(pk=1, name="a")
    Group.objects.create(pk=2, name="b")
    groups = Group.objects.order_by("pk")
    assert plain(
        {
            "values": groups.values("id", "name"),
            "tuples": groups.values_list("id", "name"),
            "flat": groups.values_list("name", flat=True),
            "named": groups.values_list("id", named=True),
            "none": groups.none().values("id"),
        }
    ) == {
        "values": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
        "tuples": [[1, "a"], [2, "b"]],
        "flat": ["a", "b"],
        "named": [[1], [2]],
        "none": [],
    }


@pytest.mark.parametrize(
    ("make", "problem", "remedy"),
    [
        (lambda: Group(pk=1), "an instance of the model auth.Group", INSTANCE_FIELDS),
        (
            lambda: SimpleLazyObject(lambda: Group(pk=1)),
            "an instance of the model auth.Group",
            INSTANCE_FIELDS,
        ),
        (lambda: Group.objects.all(), "a queryset of auth.Group instances", FIELDS),
        (lambda: Group.objects.none(), "a queryset of auth.Group instances", FIELDS),
        (lambda: Group.objects.raw("select 1"), "a raw queryset of auth.Group instances", FIELDS),
        (lambda: Group.objects, "a manager of auth.Group instances", FIELDS),
        (
            lambda: Group(pk=1).permissions,
            "a manager of auth.Permission instances",
            FIELDS.replace("Group", "Permission"),
        ),
    ],
)
def test_model_instances_are_refused_without_a_query(
    make: Callable[[], Any], problem: str, remedy: str
) -> None:
    assert refusal(make()) == ("", problem, remedy)
    assert refusal({"rows": [1, {"odd key": make()}]}) == ('rows[1]["odd key"]', problem, remedy)


@pytest.mark.parametrize(
    ("value", "problem", "remedy"),
    [
        (float("nan"), "the number nan, which JSON does not have", NO_NUMBER),
        (Real("-inf"), "the number -inf, which JSON does not have", NO_NUMBER),
        (decimal.Decimal("sNaN"), "the number sNaN, which JSON does not have", NO_NUMBER),
        (decimal.Decimal("-Infinity"), "the number -Infinity, which JSON does not have", NO_NUMBER),
        ("a\ud800", "text with a lone surrogate, which is no character", CLEAN),
        (mark_safe("\udfff"), "text with a lone surrogate, which is no character", CLEAN),
        ({"\ud800": 1}, "text with a lone surrogate, which is no character", CLEAN),
        ({1: 2}, "a mapping with the key 1 (int)", STRING_KEYS),
        ({None: 2}, "a mapping with the key None (NoneType)", STRING_KEYS),
        (b"\x00", "binary data (bytes)", TEXT),
        (bytearray(b"\x00"), "binary data (bytearray)", TEXT),
        (memoryview(b"\x00"), "binary data (memoryview)", TEXT),
        ({(1, 2)}, "a set that holds more than scalars", "Return a list, in an order of your own."),
        ({b"a"}, "binary data (bytes)", TEXT),
        (object(), "an object of the type builtins.object", CONVERT),
        (Order, "an object of the type builtins.type", CONVERT),
        (
            Customer,
            "an object of the type pydantic._internal._model_construction.ModelMetaclass",
            CONVERT,
        ),
        (iter([1]), "an object of the type builtins.list_iterator", "Return list(...) of it."),
        (
            JsonResponse({}),
            "an object of the type django.http.response.JsonResponse",
            "Return what it was made of: the response is made here.",
        ),
        ({}.keys(), "an object of the type builtins.dict_keys", "Return list(...) of it."),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_json_cannot_carry_is_refused_with_its_path(value: Any, problem: str, remedy: str) -> None:
    assert refusal(value) == ("", problem, remedy)
    assert refusal({"a": ["x", Order(datetime.date(2026, 1, 2), (value,))]}) == (
        "a[1].lines[0]",
        problem,
        remedy,
    )


def test_what_pydantic_cannot_serialize_is_refused_at_the_model() -> None:
    assert refusal({"model": [Unwritable()]}) == (
        "model[0]",
        f"an object of the type {__name__}.Unwritable that pydantic cannot serialize "
        "(Error calling function `write`: KeyError: 'no rate')",
        "Correct the value or the model's serializers.",
    )


def test_the_cause_of_a_pydantic_refusal_is_kept() -> None:
    with pytest.raises(EncodingError) as caught:
        normalise(Unwritable())
    assert type(caught.value.__cause__).__name__ == "PydanticSerializationError"


def test_what_pydantic_hands_back_is_held_to_the_same_rules() -> None:
    assert refusal([Customer(full_name="a\ud800")]) == (
        "[0].fullName",
        "text with a lone surrogate, which is no character",
        CLEAN,
    )
    assert refusal([Customer(full_name="Ann", more=Group(pk=1))]) == (
        "[0]",
        "an instance of the model auth.Group",
        INSTANCE_FIELDS,
    )


def in_list(inner: Any) -> Any:
    return [inner]


def in_dict(inner: Any) -> Any:
    return {"a": inner}


def in_dataclass(inner: Any) -> Any:
    return Order(datetime.date(2026, 1, 2), inner)


@pytest.mark.parametrize("wrap", [in_list, in_dict, in_dataclass])
def test_a_value_may_be_nested_as_deep_as_a_request(wrap: Callable[[Any], Any]) -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = wrap(value)
    assert codec.decode(codec.encode(normalise(value))) == normalise(value)
    path, problem, remedy = refusal(wrap(value))
    assert (problem, remedy) == ("a value nested more than 200 levels deep", FLATTER)
    assert path.count("[0]") + path.count("a") + path.count("lines") >= MAX_DEPTH


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    order = Order(datetime.date(2026, 1, 2))
    order.lines = [{"order": order}]
    mapping: dict[str, Any] = {}
    mapping["a"] = {"b": mapping}
    assert refusal(loop) == ("", "a value that contains itself", NO_CYCLES)
    assert refusal(mapping) == ("", "a value that contains itself", NO_CYCLES)
    assert refusal({"in": [order]}) == ("in[0]", "a value that contains itself", NO_CYCLES)


def test_the_same_value_twice_is_no_cycle() -> None:
    shared = [(1,)]
    assert plain([shared, shared]) == [[[1]], [[1]]]


def test_an_exception_of_the_authors_own_code_passes_through() -> None:
    class Row(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("broken row")

    with pytest.raises(RuntimeError, match=r"^broken row$"):
        normalise([Row(a=1)])


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.decimals()
    | st.datetimes(timezones=st.none() | st.just(UTC))
    | st.times()
    | st.timedeltas()
    | st.uuids()
    | st.binary()
    | st.sampled_from([Colour.RED, Size.SMALL, Shape.ROUND])
)


@given(
    st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text() | st.integers(), inner)
            | st.builds(Order, st.dates(), inner)
        ),
        max_leaves=20,
    )
    | st.frozensets(st.integers() | st.text() | st.none())
)
def test_any_value_becomes_plain_json_or_is_refused(value: Any) -> None:
    try:
        done = plain(value)
    except EncodingError:
        return
    assert codec.decode(codec.encode(done)) == done
