"""What type hints demand of a caller, and what the function gets."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import ipaddress
import math
import pathlib
import typing
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import jsonschema
import pytest
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db.models import Choices, IntegerChoices, TextChoices
from django.utils import translation
from django.utils.translation import gettext_lazy
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    SecretStr,
    computed_field,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError, TzInfo
from typing_extensions import TypedDict

from django_mcp import Toolset, testing
from tests.typed.tools import argument, definition, found, made, returning, taking

if TYPE_CHECKING:
    from example_project.tracker.models import Task


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Status(TextChoices):
    OPEN = "open", gettext_lazy("Monday")
    DONE = "done", "Done"


class Priority(IntegerChoices):
    HIGH = 1, "High"


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    zip_code: Annotated[str, Field(pattern="^[0-9]{5}$")] = "00000"


class Person(BaseModel):
    name: str
    address: Address | None = None


class Node(BaseModel):
    name: str
    next: Node | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    known: int = 1


class Empty(BaseModel):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Draft:
    text: str
    length: int = dataclasses.field(init=False, default=0)


class Size(typing.NamedTuple):
    width: int
    height: int = 1


class Names(RootModel[list[str]]):
    pass


class Exact(BaseModel):
    """Strict with Python's types, which JSON does not have."""

    model_config = ConfigDict(strict=True)

    due: datetime.date
    ids: set[int] = set()


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Range(TypedDict, total=False):
    low: int
    high: int


ADDRESS = {
    "description": "Where somebody lives.",
    "properties": {
        "street": {"type": "string"},
        "zip_code": {"default": "00000", "pattern": "^[0-9]{5}$", "type": "string"},
    },
    "required": ["street"],
    "type": "object",
    "additionalProperties": False,
}

#: Hint, schema, what is sent, what the function gets.
TYPES = [
    (str, {"type": "string"}, "x", "x"),
    (int, {"type": "integer"}, 3, 3),
    (int, {"type": "integer"}, 3.0, 3),
    (int, {"type": "integer"}, 10**30, 10**30),
    (float, {"type": "number"}, 1.5, 1.5),
    (bool, {"type": "boolean"}, True, True),
    (bytes, {"format": "binary", "type": "string"}, "é", "é".encode()),
    (Any, {}, [None], [None]),
    (type(None), {"type": "null"}, None, None),
    (datetime.date, {"format": "date", "type": "string"}, "2027-01-31", datetime.date(2027, 1, 31)),
    (
        datetime.datetime,
        {"format": "date-time", "type": "string"},
        "2027-01-31T12:00:00Z",
        datetime.datetime(2027, 1, 31, 12, tzinfo=TzInfo(0)),
    ),
    (
        datetime.time,
        {
            "pattern": r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?$",
            "type": "string",
        },
        "12:30",
        datetime.time(12, 30),
    ),
    (datetime.timedelta, {"format": "duration", "type": "string"}, "PT90S", datetime.timedelta(seconds=90)),
    (uuid.UUID, {"format": "uuid", "type": "string"}, f"{uuid.UUID(int=3)}", uuid.UUID(int=3)),
    (
        decimal.Decimal,
        {"pattern": r"^[+-]?[0-9]+(\.[0-9]+)?$", "type": "string"},
        "1.10",
        decimal.Decimal("1.10"),
    ),
    (
        ipaddress.IPv4Address,
        {"format": "ipv4", "type": "string"},
        "127.0.0.1",
        ipaddress.ip_address("127.0.0.1"),
    ),
    (pathlib.Path, {"format": "path", "type": "string"}, "a/b", pathlib.Path("a/b")),
    (list[int], {"items": {"type": "integer"}, "type": "array"}, [1, 2.0], [1, 2]),
    (set[int], {"items": {"type": "integer"}, "type": "array", "uniqueItems": True}, [1], {1}),
    (
        tuple[int, str],
        {
            "maxItems": 2,
            "minItems": 2,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "type": "array",
        },
        [1, "a"],
        (1, "a"),
    ),
    (dict[str, int], {"additionalProperties": {"type": "integer"}, "type": "object"}, {"a": 1}, {"a": 1}),
    (dict, {"additionalProperties": True, "type": "object"}, {"a": 1}, {"a": 1}),
    (Color, {"$ref": "#/$defs/Color"}, "red", Color.RED),
    (Level, {"$ref": "#/$defs/Level"}, 1, Level.LOW),
    (Status, {"$ref": "#/$defs/Status"}, "open", Status.OPEN),
    (Priority, {"$ref": "#/$defs/Priority"}, 1, Priority.HIGH),
    (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}, "a", "a"),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "1", "1"),
    (Address, {"$ref": "#/$defs/Address"}, {"street": "s"}, Address(street="s")),
    (Point, {"$ref": "#/$defs/Point"}, {"x": 1}, Point(1)),
    (Range, {"$ref": "#/$defs/Range"}, {"low": 1}, {"low": 1}),
    (Draft, {"$ref": "#/$defs/Draft"}, {"text": "t"}, Draft("t")),
    (Size, {"$ref": "#/$defs/Size"}, [2], Size(2)),
    (Names, {"$ref": "#/$defs/Names"}, ["a"], Names(["a"])),
    (Exact, {"$ref": "#/$defs/Exact"}, {"due": "2027-01-31"}, Exact(due=datetime.date(2027, 1, 31))),
    (
        Annotated[datetime.date, Field(strict=True)],
        {"format": "date", "type": "string"},
        "2027-01-31",
        datetime.date(2027, 1, 31),
    ),
    (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
        {"kind": "cat", "lives": 9},
        Cat(lives=9),
    ),
    (
        Node,
        {"$ref": "#/$defs/Node"},
        {"name": "a", "next": {"name": "b"}},
        Node(name="a", next=Node(name="b")),
    ),
    (Open, {"$ref": "#/$defs/Open"}, {"other": 2}, Open(known=1, other=2)),
    (Empty, {"$ref": "#/$defs/Empty"}, {}, Empty()),
    (SecretStr, {"format": "password", "type": "string", "writeOnly": True}, "s3cret", SecretStr("s3cret")),
    (
        Annotated[int, Field(gt=0, lt=10, description="A digit")],
        {"description": "A digit", "exclusiveMaximum": 10, "exclusiveMinimum": 0, "type": "integer"},
        3,
        3,
    ),
    (
        Annotated[str, Field(min_length=1, max_length=3, pattern="^a")],
        {"maxLength": 3, "minLength": 1, "pattern": "^a", "type": "string"},
        "ab",
        "ab",
    ),
]


@pytest.mark.parametrize(("hint", "schema", "sent", "got"), TYPES)
def test_every_type_has_its_schema_and_its_value(hint, schema, sent, got):
    declared = taking(hint)
    listed = definition(declared)["inputSchema"]
    assert argument(declared) == schema
    assert (listed["required"], listed["additionalProperties"]) == (["value"], False)
    jsonschema.Draft202012Validator(listed).validate({"value": sent})
    with testing.served(declared):
        assert testing.text(testing.run_tool("tests__show", {"value": sent})) == repr(got)


def test_what_has_no_hint_takes_anything(run):
    def show(value):
        """Show."""
        return repr(value)

    assert argument(made(show)) == {}
    assert run(made(show), {"value": [1]})["structuredContent"] == {"result": "[1]"}


@pytest.mark.parametrize(
    ("hint", "defined"),
    [
        (Color, {"Color": {"enum": ["red", "blue"], "type": "string"}}),
        (Level, {"Level": {"enum": [1], "type": "integer"}}),
        (
            Status,
            {
                "Status": {
                    "enum": ["open", "done"],
                    "type": "string",
                    "description": "open: Monday; done: Done",
                }
            },
        ),
        (Address, {"Address": ADDRESS}),
        (
            Open,
            {
                "Open": {
                    "additionalProperties": True,
                    "properties": {"known": {"default": 1, "type": "integer"}},
                    "type": "object",
                }
            },
        ),
        (Empty, {"Empty": {"properties": {}, "type": "object", "additionalProperties": False}}),
        (
            Draft,
            {
                "Draft": {
                    "properties": {"text": {"type": "string"}},
                    "required": ["text"],
                    "type": "object",
                    "additionalProperties": False,
                }
            },
        ),
        (
            Point,
            {
                "Point": {
                    "properties": {"x": {"type": "integer"}, "y": {"default": 0, "type": "integer"}},
                    "required": ["x"],
                    "type": "object",
                    "additionalProperties": False,
                }
            },
        ),
    ],
)
def test_classes_are_defined_beside_the_arguments(hint, defined):
    described = definition(taking(hint))["inputSchema"]["$defs"]
    for one in described.values():
        if one.get("description", "").startswith(("An enumeration", "Enum where", "Point(", "Draft(")):
            del one["description"]
    assert described == defined


def test_a_title_that_is_not_the_name_of_the_class_is_published():
    class Titled(BaseModel):
        model_config = ConfigDict(title="A title")

        n: Annotated[int, Field(title="Number")]

    assert definition(taking(Titled))["inputSchema"]["$defs"] == {
        "Titled": {
            "title": "A title",
            "properties": {"n": {"title": "Number", "type": "integer"}},
            "required": ["n"],
            "type": "object",
            "additionalProperties": False,
        }
    }


def test_labels_of_choices_follow_the_language():
    declared = taking(Status)
    with translation.override("de"):
        described = definition(declared)["inputSchema"]["$defs"]["Status"]["description"]
    assert described == "open: Montag; done: Done"
    assert definition(declared)["inputSchema"]["$defs"]["Status"]["description"] == "open: Monday; done: Done"


def test_a_lazily_translated_description_follows_the_language(refusal):
    declared = taking(Annotated[int, Field(description=gettext_lazy("Monday"))])
    with translation.override("de"):
        assert argument(declared)["description"] == "Montag"
        refusal(declared, {"value": "x"})
    assert argument(declared)["description"] == "Monday"


@pytest.mark.parametrize(
    ("hint", "default", "schema"),
    [
        (int, 3, {"default": 3, "type": "integer"}),
        (int | None, None, {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}),
        (Color, Color.RED, {"$ref": "#/$defs/Color", "default": "red"}),
        (
            datetime.date,
            datetime.date(2027, 1, 31),
            {"default": "2027-01-31", "format": "date", "type": "string"},
        ),
        (
            SecretStr,
            SecretStr("s3cret"),
            {"default": "**********", "format": "password", "type": "string", "writeOnly": True},
        ),
        (list[int], [1], {"default": [1], "items": {"type": "integer"}, "type": "array"}),
        (Any, object, {}),
        (float, math.inf, {"type": "number"}),
        (list[float], [1.5, math.nan], {"items": {"type": "number"}, "type": "array"}),
        (str, "\udcff", {"type": "string"}),
        (int, Field(3, gt=1), {"default": 3, "exclusiveMinimum": 1, "type": "integer"}),
    ],
)
def test_a_default_is_published_and_makes_the_argument_optional(hint, default, schema):
    declared = taking(hint, default)
    assert argument(declared) == schema
    assert "required" not in definition(declared)["inputSchema"]


def test_a_default_is_what_the_function_gets(run):
    assert run(taking(SecretStr, SecretStr("s3cret")))["structuredContent"] == {
        "result": "SecretStr('**********')"
    }


def test_a_default_of_pydantics_is_one(run):
    assert run(taking(int, Field(3, gt=1)))["structuredContent"] == {"result": "3"}
    assert definition(taking(int, Field(gt=1)))["inputSchema"]["required"] == ["value"]


def test_a_mutable_default_is_the_same_for_every_call(run):
    def grow(items: list[int] = []) -> list[int]:  # noqa: B006
        """Grow."""
        items.append(1)
        return items

    declared = made(grow)
    assert [run(declared)["structuredContent"]["result"] for _ in range(2)] == [[1], [1]]


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_arguments_may_be_left_out_or_null(arguments):
    with testing.served(made(lambda: 1, name="one", description="One")):
        answer = testing.Client().send("tools/call", {"name": "one", **arguments})
    assert answer["structuredContent"] == {"result": 1}


class Account(BaseModel):
    name: str
    id: int = Field(0, json_schema_extra={"readOnly": True})
    old: int = Field(0, deprecated=True)

    @computed_field
    @property
    def label(self) -> str:
        return self.name


def test_fields_that_no_caller_fills_in_are_not_published_at_any_depth(refusal):
    declared = taking(list[Account])
    assert definition(declared)["inputSchema"]["$defs"]["Account"]["properties"] == {
        "name": {"type": "string"}
    }
    body = refusal(declared, {"value": [{"name": "a", "id": 3, "label": "x"}]})
    assert (body["error"], body["unknown"]) == ("unknown_params", ["value[0].id", "value[0].label"])


def test_definitions_that_only_hidden_fields_need_are_not_published():
    class Holder(BaseModel):
        hidden: Address | None = Field(None, json_schema_extra={"readOnly": True})
        name: str = "x"

    assert list(definition(taking(Holder))["inputSchema"]["$defs"]) == ["Holder"]


class TestRefusals:
    def test_an_unknown_argument(self, refusal):
        def greet(name: str, loud: bool = False) -> str:
            """Greet."""
            return name

        assert refusal(made(greet), {"nmae": "x", "zzz": 1, "loud": "yes"}) == {
            "error": "unknown_arguments",
            "message": "tests__greet takes only the arguments name, loud.",
            "unknown": ["nmae", "zzz"],
            "unknown_count": 2,
            "allowed": ["name", "loud"],
            "did_you_mean": {"nmae": "name"},
        }

    def test_an_argument_of_a_tool_that_takes_none(self, refusal):
        assert refusal(made(lambda: 1, name="one", description="One"), {"a": 1}) == {
            "error": "unknown_arguments",
            "message": "one takes no arguments.",
            "unknown": ["a"],
            "unknown_count": 1,
            "allowed": [],
        }

    def test_a_typo_in_a_nested_model(self, refusal):
        sent = {"name": "Ada", "address": {"street": "s"}, "adress": {}}
        assert refusal(taking(list[Person]), {"value": [sent]}) == {
            "error": "unknown_params",
            "message": "tests__show does not know a key in arguments.",
            "unknown": ["value[0].adress"],
            "unknown_count": 1,
            "allowed": {"value[0]": ["address", "name"]},
            "did_you_mean": {"adress": "address"},
        }

    def test_a_typo_in_a_model_that_may_be_null(self, refusal):
        sent = {"name": "Ada", "address": {"street": "s", "zip": "1"}}
        assert refusal(taking(Person), {"value": sent}) == {
            "error": "invalid_values",
            "message": "tests__show refuses a value in arguments.",
            "invalid": [
                {
                    "path": "value.address",
                    "problems": [
                        'must satisfy one of: has keys other than "street", "zip_code"; or must be of type null'
                    ],
                }
            ],
            "invalid_count": 1,
        }

    def test_everything_wrong_is_told_at_once(self, refusal):
        def greet(name: str, age: int, on: datetime.date, pets: list[int]) -> str:
            """Greet."""
            return name

        assert refusal(made(greet), {"age": "3", "on": "soon", "pets": [1, 1.5]}) == {
            "error": "invalid_values",
            "message": "tests__greet refuses values at 4 paths in arguments.",
            "invalid": [
                {"path": "", "problems": ['lacks the required key "name"']},
                {"path": "age", "problems": ["must be of type integer"]},
                {"path": "on", "problems": ["must be a valid date, such as 2027-01-31"]},
                {"path": "pets[1]", "problems": ["must be of type integer"]},
            ],
            "invalid_count": 4,
        }

    @pytest.mark.parametrize(
        ("hint", "sent"),
        [
            (int, "3"),
            (int, True),
            (bool, 1),
            (float, "1.5"),
            (str, 3),
            (decimal.Decimal, 3),
            (list[int], "[1]"),
        ],
    )
    def test_nothing_is_coerced(self, refusal, hint, sent):
        assert refusal(taking(hint), {"value": sent})["error"] == "invalid_values"

    def test_an_open_model_takes_any_argument(self, run):
        from django_mcp import Toolset

        class Any_(Toolset):
            name = "any"

            def execute(self, params: Open) -> dict[str, int]:
                """Take anything."""
                return params.model_dump()

        assert run(Any_, {"other": 2})["structuredContent"] == {"known": 1, "other": 2}


class Span(BaseModel):
    low: int
    high: int
    names: list[str] = []
    secret: SecretStr = SecretStr("")

    @field_validator("names")
    @classmethod
    def short(cls, names):
        assert all(len(name) < 5 for name in names), "names have four letters"
        return names

    @model_validator(mode="after")
    def ordered(self):
        if self.low > self.high:
            raise ValueError("low is above high")
        if self.high > 100:
            raise PydanticCustomError("too_high", "at most {most}", {"most": 100})
        return self


class Plain(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def small(cls, n):
        if n > 3:
            raise ValueError("must be small")
        if n < 0:
            raise RuntimeError("a bug")
        return n


class TestValidators:
    @pytest.mark.parametrize(
        ("hint", "sent", "path", "problem"),
        [
            (Plain, {"n": 4}, "value.n", "must be small"),
            (list[Plain], [{"n": 1}, {"n": 4}], "value[1].n", "must be small"),
            (dict[str, Plain], {"a": {"n": 4}}, "value.a.n", "must be small"),
            (Plain | None, {"n": 4}, "value.n", "must be small"),
            (Plain | str, {"n": 4}, "value.n", "must be small"),
            (Annotated[decimal.Decimal, Field(gt=0)], "-1", "value", "should be greater than 0"),
        ],
    )
    def test_a_refusal_is_told_at_its_path_in_the_authors_words(self, run, hint, sent, path, problem):
        with testing.served(taking(hint)):
            body = testing.error_json(testing.run_tool("tests__show", {"value": sent}))
        # Of a union, what its other alternatives say is told beside it.
        assert {"path": path, "problems": [problem]} in body["invalid"]

    def test_a_refusal_of_a_validator_is_one_like_any_other(self, refusal):
        assert refusal(taking(Plain), {"value": {"n": 4}}) == {
            "error": "invalid_values",
            "message": "tests__show refuses a value in arguments.",
            "invalid": [{"path": "value.n", "problems": ["must be small"]}],
            "invalid_count": 1,
        }

    def test_nothing_is_told_of_an_argument_that_holds_a_secret(self, run):
        for sent in (
            {"low": 2, "high": 1, "secret": "s3cret"},
            {"low": 2, "high": 200, "secret": "s3cret"},
            {"low": 1, "high": 2, "names": ["s3cret"]},
        ):
            with testing.served(taking(Span)):
                body = testing.error_json(testing.run_tool("tests__show", {"value": sent}))
            assert [one["problems"] for one in body["invalid"]] == [["is refused"]]

    @pytest.mark.parametrize(
        "sent",
        [{"name": "x", "secret": "s3cret"}, {"name": "a b", "secret": "s3cret"}],
        ids=["own", "Django's"],
    )
    def test_nothing_is_told_of_all_arguments_where_one_holds_a_secret(self, refusal, sent):
        class Login(BaseModel):
            name: str
            secret: SecretStr

            @model_validator(mode="before")
            @classmethod
            def judged(cls, sent):
                validate_slug(sent["name"])
                raise ValueError(f"not {sent}")

        Ask = type("Ask", (Toolset,), {"execute": lambda self, params: 1, "description": "Ask"})
        Ask.execute.__annotations__["params"] = Login
        assert refusal(Ask, sent)["invalid"] == [{"path": "", "problems": ["is refused"]}]

    def test_nor_of_one_that_is_a_secret_by_its_format_alone(self, refusal):
        def judged(value):
            raise ValueError(f"not {value}")

        hint = Annotated[str, Field(json_schema_extra={"format": "password"}), AfterValidator(judged)]
        assert refusal(taking(hint), {"value": "s3cret"})["invalid"] == [
            {"path": "value", "problems": ["is refused"]}
        ]

    def test_a_refusal_without_a_word_is_one(self, refusal):
        def silent(value):
            raise ValueError

        body = refusal(taking(Annotated[str, AfterValidator(silent)]), {"value": "x"})
        assert body["invalid"] == [{"path": "value", "problems": ["is refused"]}]

    def test_a_validator_of_djangos_refuses_the_argument_it_stands_on(self, refusal):
        def show(plain: Plain, slug: Annotated[str, AfterValidator(validate_slug)], other: str = "") -> str:
            """Show."""
            return slug

        assert refusal(made(show), {"plain": {"n": 4}, "slug": "a b"}) == {
            "error": "invalid_values",
            "message": "tests__show refuses a value in arguments.",
            "invalid": [
                {
                    "path": "slug",
                    "problems": [
                        "Enter a valid “slug” consisting of letters, numbers, underscores or hyphens."
                    ],
                }
            ],
            "invalid_count": 1,
        }

    def test_a_validator_of_djangos_may_find_several_things(self, refusal):
        def judged(value):
            raise ValidationError(["too short", ValidationError("too %(what)s", params={"what": "plain"})])

        body = refusal(taking(Annotated[str, AfterValidator(judged)]), {"value": "x"})
        assert body["invalid"] == [{"path": "value", "problems": ["too short", "too plain"]}]

    def test_a_bug_in_a_validator_is_a_fault(self, run):
        result = run(taking(Plain), {"value": {"n": -1}})
        assert result["_meta"] == {"django_mcp.error": "error", "django_mcp.retryable": False}
        assert "RuntimeError" in result["content"][0]["text"]

    def test_a_validation_error_of_the_functions_own_is_a_fault(self, run):
        def parse() -> int:
            """Parse."""
            return Plain(n="x").n

        result = run(made(parse))
        assert result["_meta"] == {"django_mcp.error": "error", "django_mcp.retryable": False}
        assert "ValidationError" in result["content"][0]["text"]

    def test_of_many_refusals_ten_are_listed(self, run):
        with testing.served(taking(list[Plain])):
            result = testing.run_tool("tests__show", {"value": [{"n": 4}] * 12})
        body = testing.error_json(result)
        assert (len(body["invalid"]), body["invalid_count"]) == (10, 12)


class TestOffences:
    def test_a_name_that_only_type_checkers_know(self):
        def work(task: Task) -> int:
            """Work."""
            return 1

        assert found(made(work)) == [
            (
                "E090",
                "tests__work: a hint names Task, which is not there at run time.",
                "Import Task at the top of the module, outside of `if TYPE_CHECKING`; schemas are made of the hints.",
            )
        ]

    def test_a_name_in_a_class_that_only_type_checkers_know(self):
        Holder = type(
            "Holder", (BaseModel,), {"__annotations__": {"task": "Task"}, "__module__": "elsewhere"}
        )
        told = [
            (
                "E090",
                "tests__show: a hint names Task, which is not there at run time.",
                "Import Task at the top of the module, outside of `if TYPE_CHECKING`; schemas are made of the hints.",
            )
        ]
        assert found(taking(list[Holder])) == told
        assert [one[0] for one in found(returning(list[Holder], None))] == ["E090"]

    def test_a_hint_that_cannot_be_evaluated(self):
        def work(task: "Literal[1](3)") -> int:  # noqa: UP037
            """Work."""
            return 1

        assert [one[0] for one in found(made(work))] == ["E090"]

    @pytest.mark.parametrize(
        "hint",
        [
            typing.Callable[[], int],
            Annotated[str, Field(pattern="(")],
            type("Opaque", (), {}),
        ],
    )
    def test_a_type_without_schema(self, hint):
        [(id, message, hint_)] = found(taking(hint))
        assert id == "E091"
        assert message.startswith("tests__show: The arguments: no schema can be derived: ")
        assert hint_.startswith("Use a type that pydantic knows")

    def test_what_a_type_without_schema_lacks_is_told(self):
        class Postal:
            @classmethod
            def __get_pydantic_core_schema__(cls, source, handler):
                raise ImportError("postal is not installed")

        class Moon(datetime.date, Choices):
            APOLLO = 1969, 7, 20, "Apollo"

        problems = [
            one[1].removeprefix("tests__show: The arguments: no schema can be derived: ")
            for hint in (
                Annotated[str, Field(pattern="(?=a)")],
                Postal,
                Moon,
                Iterable[int],
                Annotated[int, Field(examples=[object()])],
            )
            for one in found(taking(hint))
        ]
        assert problems == [
            "error: look-around, including look-ahead and look-behind, is not supported.",
            "postal is not installed.",
            "Moon.APOLLO has the value datetime.date(1969, 7, 20), which no caller can send.",
            "an Iterable is judged only while it is read; a list is judged before.",
            "Unable to serialize unknown type: <class 'object'>.",
        ]

    @pytest.mark.parametrize(
        ("hint", "place", "problem", "remedy"),
        [
            (
                Annotated[float, Field(ge=math.nan)],
                "minimum",
                "the number nan, which JSON does not have",
                "Return None or a string.",
            ),
            (
                Annotated[str, Field(description="\udcff")],
                "description",
                "text with a lone surrogate, which is no character",
                'Clean the text, as in text.encode("utf-8", "replace").decode().',
            ),
            (
                Annotated[int, Field(json_schema_extra={"x": [math.inf]})],
                "x[0]",
                "the number inf, which JSON does not have",
                "Return None or a string.",
            ),
        ],
    )
    def test_a_schema_that_json_does_not_have(self, hint, place, problem, remedy):
        assert found(taking(hint)) == [
            ("E091", f"tests__show: The arguments: properties.value.{place} is {problem}.", remedy)
        ]
        assert found(returning(hint, None)) == [
            ("E091", f"tests__give: The return type: properties.result.{place} is {problem}.", remedy)
        ]

    def test_a_default_that_no_caller_could_send_is_a_warning(self):
        class Late(BaseModel):
            days: Annotated[int, Field(gt=0)] = 0
            hidden: SecretStr = SecretStr("s3cret")

        message = "is not what its type hint takes; a caller that sends it is refused."
        fix = (
            "Give it a default that callers could send, or a hint that admits it, such as int | None = None."
        )
        assert found(taking(int, None)) == [
            ("W020", f"tests__show: the default at properties.value {message}", fix)
        ]
        assert (
            "W020",
            f'tests__show: the default at ["$defs"].Late.properties.days {message}',
            fix,
        ) in found(taking(Late))

    def test_a_parameter_without_hint_is_a_warning(self):
        def greet(name, ctx):
            """Greet."""
            return name

        assert found(made(greet)) == [
            (
                "W021",
                f"tests__greet: the parameter {name} has no type hint, so it is an argument that takes anything.",
                "Write its type; Context for the context, Any for what may be anything.",
            )
            for name in ("name", "ctx")
        ]

    def test_a_required_field_that_nobody_can_send(self):
        class Locked(BaseModel):
            id: int = Field(json_schema_extra={"readOnly": True})

        assert found(taking(Locked)) == [
            (
                "E093",
                "tests__show: id is required, yet read-only or deprecated, so no caller can send it.",
                "Give it a default.",
            )
        ]

    def test_a_mirrored_argument_that_no_client_could_mirror(self):
        wrong = Annotated[list[int], Field(json_schema_extra={"x-mcp-header": "Ids"})]
        assert [one[0] for one in found(taking(wrong))] == ["E066"]

    def test_a_reference_is_a_warning_unless_it_is_inlined(self, settings):
        assert {one[0] for one in found(taking(Address))} == {"W014"}
        settings.DJANGO_MCP = {"INLINE_REFS": True}
        assert found(taking(Address)) == []
        assert argument(taking(Address)) == ADDRESS

    def test_what_a_field_adds_to_its_schema_is_held_to_the_rules_of_schemas(self):
        remote = Annotated[int, Field(json_schema_extra={"$ref": "https://schemas.example/n"})]
        assert found(taking(remote)) == [
            (
                "E059",
                'tests__show: the arguments: properties.value["$ref"] is https://schemas.example/n; '
                "a remote reference is never fetched.",
                "Copy the schema in and refer to it with #/...",
            )
        ]
