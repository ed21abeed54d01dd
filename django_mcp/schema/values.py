"""The value gate: a prebuilt validator, and its errors as problems that quote nothing that was sent."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable
from typing import Any

import jsonschema_rs

from django_mcp.schema import bound, paths
from django_mcp.schema.closure import PATTERN_OPTIONS
from django_mcp.schema.formats import Formats


class SchemaError(ValueError):
    """A schema that no validator can be built from; the message says what the build stopped on."""


Problems = list[tuple[str, list[str]]]


class ValueGate:
    """Judges values by a JSON Schema 2020-12, formats asserted, nothing fetched, patterns bounded."""

    __slots__ = ("_validator", "is_valid")

    def __init__(self, schema: Any, formats: Formats) -> None:
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                schema,
                formats=dict(formats.checks),
                validate_formats=True,
                ignore_unknown_formats=False,
                offline=True,
                mask="(hidden)",
                pattern_options=PATTERN_OPTIONS,
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaError(bound.render(getattr(error, "message", None) or str(error))) from None
        #: Whether the schema accepts a value. The validator's own method: nothing stands between.
        self.is_valid: Callable[[Any], bool] = self._validator.is_valid

    def problems(self, value: Any, most: int = bound.LISTED) -> tuple[Problems, int]:
        """The first paths at which the schema refuses the value, in order, and how many there are in all."""
        errors: dict[str, list[Any]] = {}
        for error in self._validator.iter_errors(value):
            errors.setdefault(_path(error.instance_path), []).append(error)
        listed = heapq.nsmallest(most, errors)
        return [(path, _texts(errors[path])) for path in listed], len(errors)


def _path(steps: Iterable[str | int]) -> str:
    path = paths.ROOT
    for step in steps:
        path = paths.join(path, step) if isinstance(step, str) else paths.item(path, step)
    return path


def _texts(errors: list[Any]) -> list[str]:
    """What is wrong at one path, each thing once."""
    return list(dict.fromkeys(_text(error) for error in errors))


def _text(error: Any) -> str:
    kind = error.kind
    details = kind.as_dict()
    if kind.name in ("anyOf", "oneOf"):
        return _of_composition(kind.name, details["context"])
    if kind.name == "propertyNames":
        return f"has a key whose name {_text(details['error'])}"
    if kind.name == "falseSchema" and error.schema_path and error.schema_path[-1] in _OF_KEYS:
        return _TEXTS["additionalProperties"](details)
    write = _TEXTS.get(kind.name)
    return f"breaks the schema's {kind.name}" if write is None else write(details)


def _of_composition(name: str, branches: list[list[Any]]) -> str:
    if not all(branches):
        return "must match exactly one of the alternatives, and matches several"
    told = [" and ".join(_branch_texts(errors)) for errors in branches[:_BRANCHES]]
    more = len(branches) - len(told)
    return f"must satisfy one of: {'; or '.join(told)}{f'; or {more} more' if more else ''}"


#: Keywords of which a `false` refuses keys, though the error is that of any schema `false`.
_OF_KEYS = ("additionalProperties", "unevaluatedProperties")

#: How many alternatives of a composition are told, and how many demands of each.
_BRANCHES = 5


def _branch_texts(errors: list[Any]) -> list[str]:
    texts = []
    for error in errors[:_BRANCHES]:
        # A key inside an alternative may be one the caller invented, so only how deep it lies is told.
        depth = len(list(error.instance_path))
        texts.append(_text(error) if not depth else f"inside it, {_text(error)}")
    return list(dict.fromkeys(texts))


def _json(value: Any) -> str:
    return bound.render(json.dumps(value, ensure_ascii=False))


def _options(values: list[Any]) -> str:
    listed = ", ".join(_json(value) for value in values[:20])
    return listed if len(values) <= 20 else f"{listed} and {len(values) - 20} more"


def _count(limit: int, what: str) -> str:
    return (
        f"{limit} {what}" if limit == 1 else f"{limit} {'properties' if what == 'property' else f'{what}s'}"
    )


_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "type": lambda details: f"must be of type {' or '.join(sorted(details['types']))}",
    "enum": lambda details: f"must be one of {_options(details['options'])}",
    "const": lambda details: f"must be {_json(details['expected_value'])}",
    "format": lambda details: f"must be a valid {details['format']}",
    "pattern": lambda details: f"must match the pattern {bound.render(details['pattern'])}",
    "minLength": lambda details: f"must have at least {_count(details['limit'], 'character')}",
    "maxLength": lambda details: f"must have at most {_count(details['limit'], 'character')}",
    "minimum": lambda details: f"must be at least {_json(details['limit'])}",
    "maximum": lambda details: f"must be at most {_json(details['limit'])}",
    "exclusiveMinimum": lambda details: f"must be greater than {_json(details['limit'])}",
    "exclusiveMaximum": lambda details: f"must be less than {_json(details['limit'])}",
    "multipleOf": lambda details: f"must be a multiple of {_json(details['multiple_of'])}",
    "minItems": lambda details: f"must have at least {_count(details['limit'], 'item')}",
    "maxItems": lambda details: f"must have at most {_count(details['limit'], 'item')}",
    "uniqueItems": lambda details: "must not hold the same item twice",
    "contains": lambda details: "does not hold the items that the schema's contains asks for",
    "minProperties": lambda details: f"must have at least {_count(details['limit'], 'property')}",
    "maxProperties": lambda details: f"must have at most {_count(details['limit'], 'property')}",
    "required": lambda details: f"lacks the required key {_json(details['property'])}",
    "additionalProperties": lambda details: "has keys that the schema does not allow",
    "unevaluatedProperties": lambda details: "has keys that the schema does not allow",
    "unevaluatedItems": lambda details: "has items that the schema does not allow",
    "falseSchema": lambda details: "must not be sent",
    "not": lambda details: f"must not match {_json(details['schema'])}",
}
