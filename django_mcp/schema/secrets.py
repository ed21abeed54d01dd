"""Values that are shown to nobody, because their schema says `writeOnly` or has the format `password`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from django_mcp.schema import closure, pointers
from django_mcp.schema.keywords import subschemas

MASK: Final = "**********"

_REFERENCES: Final = ("$ref", "$dynamicRef")
#: Keywords whose schemas judge the very value that the schema around them judges.
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONS: Final = ("if", "then", "else")

#: One call may bring thousands of keys.
_matcher = lru_cache(maxsize=64)(closure.matcher)


def holds_secret(schema: Any, root: dict[str, Any]) -> bool:
    """Whether a value of the schema can hold a secret at some depth; references are those of the root."""
    pending, seen = [schema], set[int]()
    while pending:
        for _, one in subschemas(pending.pop()):
            if isinstance(one, dict) and id(one) not in seen:
                seen.add(id(one))
                if _is_secret(one):
                    return True
                pending += _referred(one, root)
    return False


def masked(value: Any, schema: dict[str, Any]) -> Any:
    """The value with a mask in the place of each secret; what a branch calls secret is, whichever applies."""
    return _masked(value, [schema], schema) if holds_secret(schema, schema) else value


def _is_secret(schema: dict[str, Any]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _referred(schema: dict[str, Any], root: dict[str, Any]) -> list[Any]:
    return [pointers.resolve(schema[keyword], root) for keyword in _REFERENCES if keyword in schema]


def _masked(value: Any, schemas: list[Any], root: dict[str, Any]) -> Any:
    judging = _judging(schemas, root)
    # JSON inside of a text is masked as a whole.
    if any(_is_secret(one) or holds_secret(one.get("contentSchema"), root) for one in judging):
        return MASK
    if isinstance(value, dict):
        return {
            key: _masked(inner, [of for one in judging for of in _of_key(one, key)], root)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [
            _masked(inner, [of for one in judging for of in _of_item(one, index)], root)
            for index, inner in enumerate(value)
        ]
    return value


def _judging(schemas: list[Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas, and all that judge the same value with them."""
    found: dict[int, dict[str, Any]] = {}
    pending = list(schemas)
    while pending:
        schema = pending.pop()
        if isinstance(schema, dict) and id(schema) not in found:
            found[id(schema)] = schema
            pending += [inner for keyword in _LISTS for inner in schema.get(keyword, ())]
            pending += [schema.get(keyword) for keyword in _CONDITIONS]
            pending += [*schema.get("dependentSchemas", {}).values(), *_referred(schema, root)]
    return list(found.values())


def _of_key(schema: dict[str, Any], key: str) -> Iterator[Any]:
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    named = [properties[key]] if key in properties else []
    named += [inner for pattern, inner in patterns.items() if _matcher(pattern).is_valid(key)]
    yield from named or (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))


def _of_item(schema: dict[str, Any], index: int) -> Iterator[Any]:
    prefix = schema.get("prefixItems", ())
    if index < len(prefix):
        yield prefix[index]
    else:
        yield from (schema.get("items"), schema.get("unevaluatedItems"))
    yield schema.get("contains")
