"""Composition beside closed properties: what one part of a declaration adds and another always refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django_mcp.schema import bound, paths, pointers
from django_mcp.schema.closure import followed, is_closed, matcher, unshared
from django_mcp.schema.keywords import subschemas

_ADDED_FIX = "Declare them in the object's own properties, or open it with additionalProperties."
_REFUSED_FIX = "Declare all properties in one of the two, or open the other with additionalProperties."


class _Part(NamedTuple):
    """Schemas that judge the very object another schema judges, and where they stand in it.

    A part binds where one of its schemas has to accept the object, whatever the object is.
    """

    keyword: str
    path: str
    schemas: list[Any]
    binds: bool = True


def conflicts(root: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The path, problem and fix of each; `root` is a sound schema, not closed yet."""
    yield from _Conflicts(root).told()


class _Conflicts:
    def __init__(self, root: dict[str, Any]) -> None:
        # Closed is a place, not a value: one schema that is written at two places is two.
        self._root = unshared(root)
        self._reached = _reached(self._root)

    def told(self) -> Iterator[tuple[str, str, str]]:
        places = {id(schema): path for path, schema in subschemas(self._root)}
        for schema in self._reached.values():
            path = places[id(schema)]
            if is_closed(schema):
                yield from self._added(schema, path)
            yield from self._refused(schema, path)

    def _added(self, schema: dict[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
        names: dict[str, set[str]] = {}
        for part in self._parts(schema):
            names.setdefault(part.keyword, set()).update(self._names(part, schema))
        for keyword, declared in names.items():
            added = [name for name in sorted(declared) if not _admits(schema, name)]
            if added:
                where = paths.join(path, keyword)
                yield where, f"adds {_listed(added)} beside closed properties", _ADDED_FIX

    def _refused(self, schema: dict[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
        parts = list(self._parts(schema))
        for part in parts:
            beside = set(_declared(schema))
            for other in parts:
                beside |= set() if other is part else self._names(other, schema)
            refused = [name for name in sorted(beside) if self._refuses(part, name, (id(schema),))]
            if refused:
                where = f"{paths.join(path, part.keyword)}{part.path}"
                yield where, f"refuses {_listed(refused)}, declared beside it", _REFUSED_FIX

    def _parts(self, schema: dict[str, Any]) -> Iterator[_Part]:
        for index, one in enumerate(schema.get("allOf", ())):
            yield _Part("allOf", paths.item("", index), [one])
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield _Part(keyword, "", schema[keyword])
        for keyword in ("if", "then", "else"):
            if keyword in schema:
                yield _Part(keyword, "", [schema[keyword]], binds=False)
        if "dependentSchemas" in schema:
            yield _Part("dependentSchemas", "", list(schema["dependentSchemas"].values()), binds=False)
        if "$ref" in schema:
            yield _Part("$ref", "", [pointers.resolve(schema["$ref"], self._root)])

    def _names(self, part: _Part, outer: dict[str, Any]) -> set[str]:
        """The properties that a part has room for, at whatever depth of composition."""
        names: set[str] = set()
        pending, seen = list(part.schemas), {id(outer)}
        while pending:
            schema = pending.pop()
            if isinstance(schema, dict) and id(schema) not in seen:
                seen.add(id(schema))
                names |= set(_declared(schema))
                pending += [one for inner in self._parts(schema) for one in inner.schemas]
        return names

    def _refuses(self, part: _Part, name: str, within: tuple[int, ...]) -> bool:
        """Whether no object with a key of this name can satisfy a part."""
        return part.binds and all(self._never_takes(one, name, within) for one in part.schemas)

    def _never_takes(self, schema: Any, name: str, within: tuple[int, ...]) -> bool:
        if not isinstance(schema, dict) or id(schema) in within:
            return False
        # Only where closure leads is an object closed that does not say so itself.
        closed = schema.get("additionalProperties") is False or (
            id(schema) in self._reached and is_closed(schema)
        )
        if closed and not _admits(schema, name):
            return True
        inner = (*within, id(schema))
        return any(self._refuses(part, name, inner) for part in self._parts(schema))


def _reached(root: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The schemas that closure reaches, in the order of the declaration, by their ids."""
    reached: dict[int, dict[str, Any]] = {}
    pending = [root]
    while pending:
        schema = pending.pop()
        if id(schema) not in reached:
            reached[id(schema)] = schema
            pending += reversed(list(followed(schema, root)))
    return reached


def _declared(schema: dict[str, Any]) -> list[str]:
    """The properties a schema has room for; one declared false is a key it forbids."""
    return [name for name, inner in schema.get("properties", {}).items() if inner is not False]


def _admits(schema: dict[str, Any], name: str) -> bool:
    patterns = schema.get("patternProperties", {})
    return name in schema.get("properties", {}) or any(matcher(one).is_valid(name) for one in patterns)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(bound.render, names))
