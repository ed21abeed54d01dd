"""Forms that a client can show its user (MCP elicitation, form mode): flat objects of simple fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django_mcp.encoding.normalise import normalise
from django_mcp.schema import bound
from django_mcp.schema.formats import Formats
from django_mcp.schema.values import ValueGate

_NO_FORMATS: Final = Formats.of({})

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_NUMBER: Final = {"type": "number"}
_TEXTS: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_TITLED: Final = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {"const": _TEXT, "title": _TEXT},
        "required": ["const", "title"],
        "additionalProperties": False,
    },
}
_FORMATS: Final = {"enum": ["email", "uri", "date", "date-time"]}


class _Rule:
    """What one part of a form may say."""

    def __init__(self, properties: dict[str, Any], *required: str) -> None:
        self._known = properties.keys()
        self._gate = ValueGate(
            {"type": "object", "properties": properties, "required": list(required)}, _NO_FORMATS
        )

    def judge(self, what: str, said: dict[str, Any]) -> None:
        """Raise ValueError for the first thing that is wrong."""
        for key in said:
            if key not in self._known:
                raise ValueError(f"{what} says {bound.render(key)!r}, which MCP forms do not know.")
        problems, _ = self._gate.problems(said)
        for path, texts in problems:
            raise ValueError(f"{what}: {path or 'it'} {texts[0]}.")


def _field(default: dict[str, Any], *required: str, **properties: Any) -> _Rule:
    own = {"type": {}, "title": _TEXT, "description": _TEXT, "default": default}
    return _Rule({**own, **properties}, *required)


_NUMERIC: Final = _field(_NUMBER, minimum=_NUMBER, maximum=_NUMBER)

#: What a field of each type may say (MCP schema, `PrimitiveSchemaDefinition`).
_FIELDS: Final = {
    "string": _field(
        _TEXT,
        minLength=_COUNT,
        maxLength=_COUNT,
        format=_FORMATS,
        enum=_TEXTS,
        enumNames=_TEXTS,
        oneOf=_TITLED,
    ),
    "number": _NUMERIC,
    "integer": _NUMERIC,
    "boolean": _field({"type": "boolean"}),
    "array": _field(
        {"type": "array", "items": _TEXT},
        "items",
        minItems=_COUNT,
        maxItems=_COUNT,
        items={
            "type": "object",
            "properties": {"type": {"const": "string"}, "enum": _TEXTS, "anyOf": _TITLED},
            "additionalProperties": False,
            "minProperties": 1,
        },
    ),
}
_FORM: Final = _Rule(
    {
        "$schema": {"const": "https://json-schema.org/draft/2020-12/schema"},
        "type": {"const": "object"},
        "properties": {"type": "object", "additionalProperties": {"type": "object"}},
        "required": {"type": "array", "items": _TEXT},
    },
    "type",
    "properties",
)


class Form:
    """A form that may go out: `schema` is plain JSON. Raises ValueError for what a client could not show."""

    __slots__ = ("_gate", "schema")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema: dict[str, Any] = normalise(schema)
        _FORM.judge("The form", self.schema)
        properties = self.schema["properties"]
        for name, field in properties.items():
            what, kind = f"Form field {bound.render(name)!r}", field.get("type")
            rule = _FIELDS.get(kind) if isinstance(kind, str) else None
            if rule is None:
                known = ", ".join(_FIELDS)
                raise ValueError(f"{what} has the type {bound.render(kind)}; MCP forms know {known}.")
            rule.judge(what, field)
        for name in self.schema.get("required", ()):
            if name not in properties:
                raise ValueError(f"The form requires {bound.render(name)!r}, which is none of its fields.")
        self._gate = ValueGate(self.schema, _NO_FORMATS)

    def read(self, content: Any) -> dict[str, Any] | None:
        """The fields that were asked for and nothing else, or None where they do not fit."""
        if not self._gate.is_valid(content):
            return None
        properties = self.schema["properties"]
        return {
            name: _whole(value) if properties[name]["type"] == "integer" else value
            for name, value in content.items()
            if name in properties
        }


def _whole(value: float) -> int:
    """JSON has one number type: a client may send 2 as 2.0."""
    return int(value)
