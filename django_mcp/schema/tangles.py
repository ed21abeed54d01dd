"""Recursion that is followed in several ways at once: a validator's errors double with every level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final, NamedTuple

from django_mcp.schema import pointers
from django_mcp.schema.closure import matcher
from django_mcp.schema.keywords import subschemas

REFERENCES: Final = ("$ref", "$dynamicRef")

#: Keywords for what their neighbours in the same schema leave over.
_REST: Final = ("additionalProperties", "items", "unevaluatedItems", "unevaluatedProperties")
_OF_ARRAYS: Final = frozenset({"items", "prefixItems", "unevaluatedItems"})


class _Way(NamedTuple):
    """To a schema of a part of a value: from which schema, by which keyword, for which key or index."""

    owner: int
    keyword: str
    step: Any
    target: int


def tangled(root: Any) -> set[int]:
    """The ids of the schemas whose references make up such a recursion.

    Alternatives are left out: their errors are not gathered at every level.
    """
    schemas = {id(one): one for _, one in subschemas(root) if isinstance(one, dict)}
    referred = {key: set(_referred(one, root)) & schemas.keys() for key, one in schemas.items()}
    beside = {key: [*referred[key], *_beside(one)] for key, one in schemas.items()}
    ways = {key: list(_ways(one)) for key, one in schemas.items()}
    onward = {key: {*beside[key], *(way.target for way in ways[key])} for key in schemas}
    backward: dict[int, set[int]] = {key: set() for key in schemas}
    for key, others in onward.items():
        for other in others:
            backward[other].add(key)
    found: set[int] = set()
    for target in set().union(*referred.values()):
        recursion = _reached(target, onward) & _reached(target, backward)
        if any(_is_tangled(key, recursion, beside, ways) for key in recursion):
            found |= {key for key in recursion if referred[key] & recursion}
    return found


def _reached(start: int, steps: Mapping[int, Iterable[int]]) -> set[int]:
    """What steps lead to from a schema; itself only if they lead back."""
    reached: set[int] = set()
    pending = list(steps[start])
    while pending:
        one = pending.pop()
        if one not in reached:
            reached.add(one)
            pending += steps[one]
    return reached


def _is_tangled(
    schema: int, recursion: set[int], beside: Mapping[int, list[int]], ways: Mapping[int, list[_Way]]
) -> bool:
    """Whether a value that a schema judges, or a part of it, is judged twice within the recursion."""
    leading: list[_Way] = []
    pending, passed = [schema], set[int]()
    while pending:
        one = pending.pop()
        if one in passed:
            return True
        passed.add(one)
        leading += [way for way in ways[one] if way.target in recursion]
        pending += [inner for inner in beside[one] if inner in recursion]
    return any(_meet(one, other) for one, other in combinations(leading, 2))


def _meet(one: _Way, other: _Way) -> bool:
    """Whether both ways may lead to the same part of a value."""
    if (one.keyword in _OF_ARRAYS) is not (other.keyword in _OF_ARRAYS):
        return False
    if one.keyword in _REST or other.keyword in _REST:
        return one.owner != other.owner
    if one.keyword != other.keyword:
        named, pattern = (one, other) if one.keyword == "properties" else (other, one)
        return bool(matcher(pattern.step).is_valid(named.step))
    return one.keyword == "patternProperties" or bool(one.step == other.step)


def _ways(schema: dict[str, Any]) -> Iterator[_Way]:
    steps: list[tuple[str, Any, Any]] = [(keyword, None, schema.get(keyword)) for keyword in _REST]
    for keyword in ("properties", "patternProperties"):
        steps += [(keyword, name, inner) for name, inner in schema.get(keyword, {}).items()]
    steps += [("prefixItems", index, inner) for index, inner in enumerate(schema.get("prefixItems", ()))]
    for keyword, step, inner in steps:
        if isinstance(inner, dict):
            yield _Way(id(schema), keyword, step, id(inner))


def _beside(schema: dict[str, Any]) -> list[int]:
    """The schemas inside of a schema that judge the very value it judges."""
    inner = [*schema.get("allOf", ()), schema.get("then"), schema.get("else")]
    inner += schema.get("dependentSchemas", {}).values()
    return [id(one) for one in inner if isinstance(one, dict)]


def _referred(schema: dict[str, Any], root: Any) -> Iterator[int]:
    for keyword in REFERENCES:
        yield id(pointers.resolve(schema.get(keyword), root))
