"""Where schemas stand inside a schema (JSON Schema 2020-12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django_mcp.schema import paths

#: Keywords whose value is a schema, a list of schemas, a map of schemas.
SCHEMA_KEYWORDS: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
LIST_KEYWORDS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
#: `definitions` is the older name of `$defs`, which the meta-schema still knows.
MAP_KEYWORDS: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)


def subschemas(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every schema in a schema, itself first, each with its path. One that contains itself is left there."""
    pending: list[tuple[Any, str, tuple[int, ...]]] = [(schema, paths.ROOT, ())]
    while pending:
        one, path, around = pending.pop()
        if type(one) not in (dict, bool) or id(one) in around:
            continue
        yield path, one
        if type(one) is dict:
            within = (*around, id(one))
            pending += reversed([(inner, where, within) for where, inner in inside(one, path)])


def inside(schema: dict[Any, Any], path: str = paths.ROOT) -> Iterator[tuple[str, Any]]:
    """The values that stand where a schema belongs, one step inside of a schema, each with its path."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_KEYWORDS:
            yield paths.join(path, keyword), value
        elif keyword in LIST_KEYWORDS and type(value) is list:
            where = paths.join(path, keyword)
            yield from ((paths.item(where, index), inner) for index, inner in enumerate(value))
        elif keyword in MAP_KEYWORDS and type(value) is dict:
            where = paths.join(path, keyword)
            named = [(name, inner) for name, inner in value.items() if type(name) is str]
            yield from ((paths.join(where, name), inner) for name, inner in named)


def beside(schema: dict[Any, Any]) -> Iterator[Any]:
    """The values that stand where a schema of the very value belongs that this schema judges."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        if type(schema.get(keyword)) is list:
            yield from schema[keyword]
    for keyword in ("else", "if", "not", "then"):
        yield schema.get(keyword)
    if type(schema.get("dependentSchemas")) is dict:
        yield from schema["dependentSchemas"].values()
