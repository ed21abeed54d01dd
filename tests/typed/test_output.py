"""What a typed tool answers, and what its output schema promises."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import uuid
from collections.abc import Iterator
from typing import Annotated, Any

import jsonschema
import pytest
from django.contrib.auth.models import Group
from django.utils import translation
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, ConfigDict, Field, SecretStr, computed_field

from django_mcp import Context, Reply, testing
from django_mcp.authoring.context import Content
from django_mcp.encoding import codec
from tests.typed.test_input import Address, Color, Level, Node, Point, Range, Status
from tests.typed.tools import LIVE, definition, found, made, returning


class Account(BaseModel):
    name: str
    secret: SecretStr = SecretStr("s3cret")

    @computed_field
    @property
    def label(self) -> str:
        return self.name.upper()


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: int = 1


def whole(run, declared):
    """The answer, once the published schema has accepted it."""
    result = run(declared)
    jsonschema.Draft202012Validator(definition(declared)["outputSchema"]).validate(
        result["structuredContent"]
    )
    return result


#: Hint, what is returned, the structured content, the text.
OBJECTS = [
    (Address, Address(street="s"), {"street": "s", "zip_code": "00000"}),
    (Point, Point(1), {"x": 1, "y": 0}),
    (Range, {"low": 1}, {"low": 1}),
    (dict, {"a": [1]}, {"a": [1]}),
    (dict[str, datetime.date], {"a": datetime.date(2027, 1, 31)}, {"a": "2027-01-31"}),
    (dict[int, Color], {1: Color.RED}, {"1": "red"}),
    (
        Account,
        Account(name="ada"),
        {"name": "ada", "secret": "**********", "label": "ADA"},
    ),
    (Reply[Address], Reply(Address(street="s")), {"street": "s", "zip_code": "00000"}),
]


@pytest.mark.parametrize(("hint", "value", "structured"), OBJECTS)
def test_an_object_is_its_own_structured_content(run, hint, value, structured):
    declared = returning(hint, value)
    assert whole(run, declared) == {
        "content": [{"type": "text", "text": written(structured)}],
        "structuredContent": structured,
        "isError": False,
        "_meta": LIVE,
    }


def written(value):
    return codec.text(value)


MOMENT = datetime.datetime(2027, 1, 31, 12, tzinfo=datetime.UTC)

#: Hint, what is returned, what is under `result`.
OTHERS = [
    (str, "plain text", "plain text"),
    (int, 10**30, 10**30),
    (float, 1.5, 1.5),
    (bool, True, True),
    (None, None, None),
    (list[Address], [Address(street="s")], [{"street": "s", "zip_code": "00000"}]),
    (Address | None, Address(street="s"), {"street": "s", "zip_code": "00000"}),
    (Address | None, None, None),
    (Address | Point, Point(1), {"x": 1, "y": 0}),
    (Node, Node(name="a", next=Node(name="b")), {"name": "a", "next": {"name": "b", "next": None}}),
    (Any, {"a": 1}, {"a": 1}),
    (Any, [SecretStr("s3cret")], ["**********"]),
    (datetime.datetime, MOMENT, "2027-01-31T12:00:00Z"),
    (datetime.time, datetime.time(12, 30), "12:30:00"),
    (datetime.timedelta, datetime.timedelta(seconds=-90), "-PT1M30S"),
    (decimal.Decimal, decimal.Decimal("1.10"), "1.10"),
    (decimal.Decimal, decimal.Decimal("0E-10"), "0E-10"),
    (decimal.Decimal, decimal.Decimal("1E+3"), "1E+3"),
    (uuid.UUID, uuid.UUID(int=3), str(uuid.UUID(int=3))),
    (bytes, "é".encode(), "é"),
    (set[int], {1}, [1]),
    (tuple[int, str], (1, "a"), [1, "a"]),
    (Color, Color.RED, "red"),
    (Level, Level.LOW, 1),
    (Status, Status.OPEN, "open"),
    (Reply[int], Reply(3), 3),
    (Reply, Reply({"a": 1}), {"a": 1}),
]


@pytest.mark.parametrize(("hint", "value", "result"), OTHERS)
def test_anything_else_is_wrapped_and_its_text_is_not(run, hint, value, result):
    declared = returning(hint, value)
    assert whole(run, declared) == {
        "content": [{"type": "text", "text": result if isinstance(result, str) else written(result)}],
        "structuredContent": {"result": result},
        "isError": False,
        "_meta": LIVE,
    }


def test_a_lazily_translated_text_follows_the_language():
    with testing.served(returning(Any, gettext_lazy("Monday"))), translation.override("de"):
        assert testing.text(testing.run_tool("tests__give")) == "Montag"


def test_without_a_return_hint_any_value_is_wrapped(run):
    def give():
        """Give."""
        return {"a": 1}

    declared = made(give)
    assert definition(declared)["outputSchema"] == {
        "type": "object",
        "properties": {"result": {}},
        "required": ["result"],
    }
    assert whole(run, declared)["structuredContent"] == {"result": {"a": 1}}


def test_an_objects_schema_is_its_own():
    assert definition(returning(Account, None))["outputSchema"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "secret": {
                "default": "**********",
                "enum": ["**********", ""],
                "format": "password",
                "type": "string",
                "writeOnly": True,
            },
            "label": {"readOnly": True, "type": "string"},
        },
        "required": ["name", "label"],
    }


def test_definitions_stand_at_the_root_of_a_wrapped_schema():
    assert definition(returning(Node, None))["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"$ref": "#/$defs/Node"}},
        "required": ["result"],
        "$defs": {
            "Node": {
                "properties": {
                    "name": {"type": "string"},
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": None},
                },
                "required": ["name"],
                "type": "object",
            }
        },
    }


def test_a_site_without_time_zones_returns_times_without_offset(run, settings):
    settings.USE_TZ = False
    declared = returning(datetime.datetime, datetime.datetime(2027, 1, 31, 12))
    assert whole(run, declared)["structuredContent"] == {"result": "2027-01-31T12:00:00"}


@pytest.mark.django_db
def test_a_values_queryset_is_a_list():
    Group.objects.create(name="g")
    declared = made(lambda: Group.objects.values("name"), name="groups", description="Groups")
    declared.__annotations__["return"] = list[dict[str, str]]
    with testing.served(declared):
        result = testing.run_tool("groups")
    assert result["structuredContent"] == {"result": [{"name": "g"}]}


class Loose(enum.Enum):
    BAD = math.nan


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "x"),
        (Address, {"street": 3}),
        (Address, None),
        (datetime.datetime, datetime.datetime(2027, 1, 31, 12)),
        (list[int], [1, None]),
        (decimal.Decimal, decimal.Decimal("NaN")),
    ],
)
def test_a_value_that_breaks_the_schema_is_a_mismatch(run, hint, value):
    result = run(returning(hint, value))
    assert (result["isError"], result["_meta"]) == (
        True,
        {"django_mcp.error": "error", "django_mcp.retryable": False},
    )
    assert '"errorType":"output_mismatch"' in result["content"][0]["text"]
    assert "structuredContent" not in result


class Login(BaseModel):
    token: Annotated[SecretStr, Field(min_length=12, max_length=60)]
    note: SecretStr = SecretStr("")


def test_a_masked_secret_keeps_the_schema_whatever_it_demands_of_the_secret(run):
    declared = returning(Login, Login(token="t-0123456789"))
    assert whole(run, declared)["structuredContent"] == {"token": "**********", "note": ""}


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Login, {"token": "t-0123456789"}),
        (Login, Login.model_construct(token="t-0123456789")),
        (list[SecretStr], ["t-0123456789"]),
    ],
)
def test_a_secret_in_clear_is_not_let_out(run, settings, caplog, hint, value):
    """Nobody masks a string in the place of a SecretStr."""
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}
    result = run(returning(hint, value))
    assert (result["isError"], "structuredContent" in result) == (True, False)
    assert "t-0123456789" not in f"{result}{caplog.text}"


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (float, math.nan, "nan"),
        (Any, math.inf, "inf"),
        (str, "\ud800", "surrogate"),
        (Any, object(), "object"),
        (Any, Group(name="g"), "auth.Group"),
        (list[dict[str, Any]], [{"g": Group(name="g")}], "auth.Group"),
        (bytes, b"\xff", "utf-8"),
    ],
)
def test_what_json_cannot_carry_is_a_fault(run, settings, hint, value, problem):
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}
    result = run(returning(hint, value))
    assert (result["isError"], result["_meta"]) == (
        True,
        {"django_mcp.error": "error", "django_mcp.retryable": False},
    )
    assert '"errorType":"tool_fault"' in result["content"][0]["text"]
    assert problem in result["content"][0]["text"]


def test_content_blocks_are_answered_as_they_are(run):
    def draw(ctx: Context) -> Content:
        """Draw."""
        return ctx.text("here") + ctx.image("aGk=", "image/png")

    assert whole(run, made(draw)) == {
        "content": [
            {"type": "text", "text": "here"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        ],
        "structuredContent": {"result": {}},
        "isError": False,
        "_meta": LIVE,
    }


def test_a_legacy_client_gets_the_same_object():
    with testing.served(returning(int, 3)):
        client = testing.Client(version="2025-06-18")
        client.initialize()
        assert client.call("tests__give")["structuredContent"] == {"result": 3}


@pytest.mark.parametrize("hint", [Group, Iterator[int], list[Group]])
def test_a_return_type_without_schema_is_told(hint):
    [(id, message, _)] = found(returning(hint, None))
    assert id == "E091"
    assert message.startswith("tests__give: The return type: no schema can be derived: ")
