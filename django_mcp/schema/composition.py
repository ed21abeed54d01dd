"""Composition beside closed properties: what one part of a declaration adds and another always refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django_mcp.schema import bound, paths, pointers
from django_mcp.schema.closure import followed, is_closed, matcher
from django_mcp.schema.keywords import subschemas

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")

_ADDED_FIX = "Declare them in the object's own properties, or open it with additionalProperties."
_REFUSED_FIX = "Declare all properties in one of the two, or open the other with additionalProperties."


def conflicts(root: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The path, problem and fix of each; `root` is a sound schema, not closed yet."""
    places = {id(schema): path for path, schema in subschemas(root)}
    for schema in _reached(root):
        path = places[id(schema)]
        if is_closed(schema):
            yield from _added(schema, path, root)
        target = pointers.resolve(schema.get("$ref"), root)
        if isinstance(target, dict) and is_closed(target):
            refused = [name for name in _declared(schema) if not _admits(target, name)]
            if refused:
                where = paths.join(path, "$ref")
                yield where, f"refuses {_listed(refused)}, declared beside it", _REFUSED_FIX


def _reached(root: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas that closure reaches, in the order of the declaration."""
    reached: dict[int, dict[str, Any]] = {}
    pending = [root]
    while pending:
        schema = pending.pop()
        if id(schema) not in reached:
            reached[id(schema)] = schema
            pending += reversed(list(followed(schema, root)))
    return list(reached.values())


def _added(schema: dict[str, Any], path: str, root: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for keyword, branches in _branches(schema, root):
        names: set[str] = set()
        pending, seen = list(branches), {id(schema)}
        while pending:
            branch = pending.pop()
            if isinstance(branch, dict) and id(branch) not in seen:
                seen.add(id(branch))
                names |= set(_declared(branch))
                pending += [inner for _, more in _branches(branch, root) for inner in more]
        added = [name for name in sorted(names) if not _admits(schema, name)]
        if added:
            where = paths.join(path, keyword)
            yield where, f"adds {_listed(added)} beside closed properties", _ADDED_FIX


def _branches(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The schemas that judge the very object a schema judges, by keyword."""
    for keyword in (*_LISTS, *_SINGLE):
        if keyword in schema:
            yield keyword, schema[keyword] if keyword in _LISTS else [schema[keyword]]
    if "dependentSchemas" in schema:
        yield "dependentSchemas", list(schema["dependentSchemas"].values())
    if "$ref" in schema:
        yield "$ref", [pointers.resolve(schema["$ref"], root)]


def _declared(schema: dict[str, Any]) -> list[str]:
    """The properties a schema has room for; one declared false is a key it forbids."""
    return [name for name, inner in schema.get("properties", {}).items() if inner is not False]


def _admits(schema: dict[str, Any], name: str) -> bool:
    patterns = schema.get("patternProperties", {})
    return name in schema.get("properties", {}) or any(matcher(one).is_valid(name) for one in patterns)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(bound.render, names))
