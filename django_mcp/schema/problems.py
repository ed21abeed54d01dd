"""What is wrong with a value, in words that say what would be right.

They are made of the author's schema alone: no value and no key that was sent is in any of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from django_mcp.schema import bound, paths, pointers
from django_mcp.schema.explain import ALTERNATIVES, BRIEF, JUDGED, WHOLE
from django_mcp.schema.formats import Formats
from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS

#: How many alternatives of a composition are told, and how many demands of each.
_BRANCHES: Final = 5
#: How many allowed values or names are told.
_OPTIONS: Final = 20

_REFERENCES = ("$ref", "$dynamicRef")
_SINGLE = SCHEMA_KEYWORDS | {BRIEF, WHOLE}
#: The validator still knows `dependencies`, though the dialect does not.
_NAMED = LIST_KEYWORDS | MAP_KEYWORDS | {"dependencies"}


class _Place(NamedTuple):
    """Where in the schema an error arose: its keyword, the schema that has it, and what led there."""

    keyword: str
    schema: dict[str, Any]
    #: The property names declared on the way, and why conditional parts applied.
    names: frozenset[str]
    conditions: tuple[str, ...]


class _Root(NamedTuple):
    """The whole schema, and what its formats are."""

    schema: Any
    formats: Formats


def told(errors: list[Any], schema: Any, formats: Formats) -> list[str]:
    """What is wrong at one path, each thing once."""
    root = _Root(schema, formats)
    texts = [_text(error, root, 0) for error in errors]
    return texts if len(texts) == 1 else list(dict.fromkeys(texts))


def _place(error: Any, root: Any, since: int) -> _Place:
    """Where an error arose; names and conditions count from the step `since` of its evaluation on."""
    at = _followed(root, error.schema_path, 0)
    try:
        way = _followed(root, error.evaluation_path, since)
    except (AttributeError, LookupError, TypeError):
        # The validator leaves out steps where a reference leads into an alternative.
        return at
    return at._replace(names=way.names, conditions=way.conditions)


def _followed(root: Any, steps: list[str | int], since: int) -> _Place:
    schema: Any = root
    place = _Place("", {}, frozenset(), ())
    iterator = iter(enumerate(steps))
    for number, step in iterator:
        keyword = str(step)
        place = place._replace(keyword=keyword, schema=schema)
        inner = schema.get(keyword)
        if keyword in _REFERENCES:
            schema = pointers.resolve(inner, root)
        elif keyword in _SINGLE:
            if keyword in ("then", "else") and number >= since and JUDGED not in schema:
                matches = "matches" if keyword == "then" else "does not match"
                place = _since(place, f"it {matches} {_written(schema['if'])}")
            schema = inner
        elif keyword in _NAMED and (following := next(iterator, None)) is not None:
            name = following[1]
            if keyword == "dependentSchemas" and number >= since:
                place = _since(place, f"{_json(name)} is sent")
            if keyword == "properties" and number >= since:
                place = place._replace(names=place.names | {str(name)})
            schema = inner[name]
    return place


def _since(place: _Place, condition: str) -> _Place:
    return place._replace(conditions=(*place.conditions, condition))


def _text(error: Any, root: _Root, since: int, nested: bool = False) -> str:
    kind = error.kind
    name = kind.name
    if name == "propertyNames":
        # The error of the name has the same path, so what led there is told with it.
        return f"has a key whose name {_text(kind.as_dict()['error'], root, since, nested)}"
    steps = error.evaluation_path
    if name in _ANYWHERE and _CONDITIONAL.isdisjoint(steps):
        return _OF_DETAILS[name](kind.as_dict())
    place = _place(error, root.schema, since)
    text = _of_kind(error, place, root, nested)
    return f"{text} (since {' and '.join(place.conditions)})" if place.conditions else text


def _of_kind(error: Any, place: _Place, root: _Root, nested: bool) -> str:
    name, details = error.kind.name, error.kind.as_dict()
    if name == "format":
        return _of_format(error, root)
    if name in ALTERNATIVES:
        return _of_composition(error, details["context"], root, nested)
    if JUDGED in place.schema:
        return _of_judged(place.schema["if"])
    if place.keyword in _OF_PLACE and name in (place.keyword, *_KINDS_OF_PLACE):
        return _OF_PLACE[place.keyword](details, place.schema)
    write = _OF_DETAILS.get(name)
    return f"breaks the schema's {name}" if write is None else write(details)


def _of_format(error: Any, root: _Root) -> str:
    name = error.kind.as_dict()["format"]
    example = root.formats.example(name)
    return f"must be a valid {name}" if example is None else f"must be a valid {name}, such as {example}"


def _of_composition(error: Any, branches: list[list[Any]], root: _Root, nested: bool) -> str:
    if not all(branches):
        return "must match exactly one of the alternatives, and matches several"
    if nested:
        return _one_of(branches)
    told = [" and ".join(_branch_texts(errors, error, root)) for errors in branches[:_BRANCHES]]
    more = len(branches) - len(told)
    return f"must satisfy one of: {'; or '.join(told)}{f'; or {more} more' if more else ''}"


def _branch_texts(errors: list[Any], outer: Any, root: _Root) -> list[str]:
    since = len(outer.evaluation_path)
    texts = []
    for error in errors[:_BRANCHES]:
        steps = error.instance_path[len(outer.instance_path) :]
        text = _text(error, root, since, nested=True)
        texts.append(f"{_label(steps, _place(error, root.schema, since).names)}{text}")
    return list(dict.fromkeys(texts))


def _one_of(branches: list[Any]) -> str:
    return f"must match one of {_count(len(branches), 'alternative')}"


def _label(steps: list[str | int], declared: frozenset[str]) -> str:
    """Where inside the composed value it is, unless a key on the way is none that the schema names."""
    if not steps:
        return ""
    named = all(isinstance(step, int) or step in declared for step in steps)
    return f"{paths.of(steps)} " if named else "inside it, "


def _json(value: Any) -> str:
    return bound.render(json.dumps(value, ensure_ascii=False))


def _written(schema: Any) -> str:
    """A schema as its author wrote it, which may be taken from a copy."""
    return bound.render(json.dumps(schema, ensure_ascii=False).replace(f'"#/{WHOLE}', '"#'))


def _options(values: list[Any]) -> str:
    listed = ", ".join(_json(value) for value in values[:_OPTIONS])
    more = len(values) - _OPTIONS
    return f"{listed} and {more} more" if more > 0 else listed


def _count(limit: int, what: str) -> str:
    plural = "properties" if what == "property" else f"{what}s"
    return f"{limit} {what if limit == 1 else plural}"


def _unknown_keys(details: dict[str, Any], schema: dict[str, Any]) -> str:
    listed = " and ".join(_known(schema))
    return f"has keys other than {listed}" if listed else "must not have any keys"


def _known(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("properties"):
        yield _options(sorted(schema["properties"]))
    for pattern in schema.get("patternProperties", {}):
        yield f"those that match {bound.render(pattern)}"


def _dependent(details: dict[str, Any], schema: dict[str, Any]) -> str:
    needed = details["property"]
    needing = [name for name, names in schema["dependentRequired"].items() if needed in names]
    return f"lacks the key {_json(needed)}, which must come with {' or '.join(map(_json, needing))}"


def _of_judged(schema: dict[str, Any]) -> str:
    for keyword in ALTERNATIVES:
        if keyword in schema:
            return _one_of(schema[keyword])
    return f"must match {_written(schema)}"


#: How the validator calls what several keywords find.
_KINDS_OF_PLACE: Final = ("contains", "falseSchema", "required")

#: Problems whose words need the schema that the keyword stands in.
_OF_PLACE: Final[dict[str, Callable[[dict[str, Any], dict[str, Any]], str]]] = {
    "additionalProperties": _unknown_keys,
    "contains": lambda details, schema: f"must hold an item that matches {_written(schema['contains'])}",
    "dependentRequired": _dependent,
    "maxContains": lambda details, schema: (
        f"must hold at most {_count(schema['maxContains'], 'item')} matching {_written(schema['contains'])}"
    ),
    "minContains": lambda details, schema: (
        f"must hold at least {_count(schema['minContains'], 'item')} matching {_written(schema['contains'])}"
    ),
    "propertyNames": lambda details, schema: "must not have any keys",
    "unevaluatedItems": lambda details, schema: "has items that the schema does not allow",
    "unevaluatedProperties": lambda details, schema: "has keys that the schema does not allow",
}

_OF_DETAILS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "type": lambda details: f"must be of type {' or '.join(sorted(details['types']))}",
    "enum": lambda details: f"must be one of {_options(details['options'])}",
    "const": lambda details: f"must be {_json(details['expected_value'])}",
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
    "minProperties": lambda details: f"must have at least {_count(details['limit'], 'property')}",
    "maxProperties": lambda details: f"must have at most {_count(details['limit'], 'property')}",
    "required": lambda details: f"lacks the required key {_json(details['property'])}",
    "falseSchema": lambda details: "must not be sent",
    "not": lambda details: f"must not match {_written(details['schema'])}",
}

#: Problems whose words are the same wherever they arise, unless a condition led there.
_ANYWHERE: Final = frozenset(_OF_DETAILS) - {*_KINDS_OF_PLACE, *_OF_PLACE}
_CONDITIONAL: Final = frozenset({"then", "else", "dependentSchemas"})
