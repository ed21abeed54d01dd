"""Which objects of a schema are closed, and what follows from it for what is published and for what is
accepted.

An object schema is closed when it says `additionalProperties: false`, or declares `properties` and says
nothing about others, by `additionalProperties` or `unevaluatedProperties`. Both uses follow the same
keywords: `properties`, `patternProperties`, `additionalProperties`, `items`, `prefixItems` and local `$ref`.
Composition (`anyOf` and its kin) is not followed: it is the value gate's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from django_mcp.schema import paths, pointers


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that a closed object does not have: its path, its bare name, its object, that object's names."""

    path: str
    key: str
    parent: str
    allowed: tuple[str, ...]


class _Node:
    """One schema of the tree, with what the walks need of it."""

    __slots__ = (
        "additional",
        "closed",
        "integer",
        "items",
        "leads_to_integer",
        "names",
        "patterns",
        "prefix",
        "properties",
        "reference",
        "ways",
        "ways_by_pattern",
    )

    def __init__(self, schema: dict[str, Any]) -> None:
        properties = schema.get("properties", {})
        types = schema.get("type")
        listed = types if isinstance(types, list) else [types]
        self.names = tuple(sorted(properties))
        self.integer = "integer" in listed and "number" not in listed
        self.closed = schema.get("additionalProperties") is False
        self.leads_to_integer = self.integer
        self.properties: dict[str, _Node] = {}
        self.patterns: list[tuple[Any, _Node]] = []
        self.prefix: list[_Node] = []
        self.additional: _Node | None = None
        self.items: _Node | None = None
        self.reference: _Node | None = None
        #: The named properties, and whether any other keys, that lead to an integer.
        self.ways: dict[str, _Node] = {}
        self.ways_by_pattern = False

    def inner(self) -> Iterator[_Node]:
        yield from self.properties.values()
        yield from self.unnamed()
        yield from self.prefix
        yield from (node for node in (self.items, self.reference) if node is not None)

    def unnamed(self) -> Iterator[_Node]:
        """The schemas of keys that `properties` does not name."""
        yield from (node for _, node in self.patterns)
        if self.additional is not None:
            yield self.additional


def matcher(pattern: str) -> Any:
    """A validator of the one question whether a string matches a pattern, as the value gate answers it."""
    return jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=PATTERN_OPTIONS)


#: Look-around is allowed, catastrophic backtracking ends.
PATTERN_OPTIONS = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)


def is_closed(schema: dict[str, Any]) -> bool:
    """Whether an object schema takes no keys but its own, as declared."""
    additional = schema.get("additionalProperties")
    says_nothing = additional is None and "unevaluatedProperties" not in schema
    return additional is False or (says_nothing and "properties" in schema)


class Closure:
    """An action's property schemas, closed: `schema` is the closed root, `properties` its properties."""

    __slots__ = ("_root", "properties", "schema")

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.properties: dict[str, Any] = schema["properties"]
        self._root = _tree(schema)

    @classmethod
    def of(cls, properties: dict[str, Any]) -> Closure:
        """Close an action's `properties`, which the root of its data consists of."""
        root = {"type": "object", "properties": unshared(properties), "additionalProperties": False}
        pending, seen = [root], set()
        while pending:
            schema = pending.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            pending += followed(schema, root)
            if is_closed(schema):
                schema["additionalProperties"] = False
        return cls(root)

    def unknown(self, data: Any) -> list[UnknownKey]:
        """Every key of the data that a closed object does not have, sorted by path."""
        found: dict[str, UnknownKey] = {}
        pending: list[tuple[_Node, Any, str]] = [(self._root, data, paths.ROOT)]
        while pending:
            node, value, path = pending.pop()
            if node.reference is not None:
                pending.append((node.reference, value, path))
            if isinstance(value, dict):
                for key, inner in value.items():
                    nodes = _of_key(node, key)
                    if nodes:
                        where = paths.join(path, key)
                        pending += [(one, inner, where) for one in nodes]
                    elif node.closed:
                        where = paths.join(path, key)
                        found[where] = UnknownKey(where, key, path, _common(found.get(where), node))
            elif isinstance(value, list):
                for index, inner in enumerate(value):
                    of_item = node.prefix[index] if index < len(node.prefix) else node.items
                    if of_item is not None:
                        pending.append((of_item, inner, paths.item(path, index)))
        return [found[path] for path in sorted(found)]

    def integers(self, data: Any) -> Any:
        """The data with whole floats as integers where the schema says integer. Copies only what changes."""
        return _integers(self._root, data) if self._root.leads_to_integer else data


def _common(known: UnknownKey | None, node: _Node) -> tuple[str, ...]:
    """The names that every closed schema of an object has, where several judge the same object."""
    return node.names if known is None else tuple(name for name in node.names if name in known.allowed)


def unshared(value: Any) -> Any:
    """A copy in which every place has a value of its own: one that is closed must not close another."""
    if isinstance(value, dict):
        return {key: unshared(inner) for key, inner in value.items()}
    return [unshared(inner) for inner in value] if isinstance(value, list) else value


def _of_key(node: _Node, key: str) -> list[_Node]:
    named = node.properties.get(key)
    nodes = [] if named is None else [named]
    nodes += [inner for pattern, inner in node.patterns if pattern.is_valid(key)]
    if not nodes and node.additional is not None:
        nodes.append(node.additional)
    return nodes


#: What is a whole float itself, or may hold one.
_LEADING = frozenset({float, dict, list})


def _integers(node: _Node, value: Any) -> Any:
    one: _Node | None = node
    # A loop, and no more than two frames a level: data may be nested as deep as the decoder lets it be.
    while one is not None and one.leads_to_integer:
        kind = type(value)
        if kind is float:
            value = int(value) if one.integer and value.is_integer() else value
        elif kind is dict:
            value = _integers_of_dict(one, value)
        elif kind is list:
            value = _integers_of_list(one, value)
        one = one.reference
    return value


def _integers_of_dict(node: _Node, value: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, inner in node.ways.items():
        item = value.get(key)
        if type(item) in _LEADING and (done := _integers(inner, item)) is not item:
            changed[key] = done
    if node.ways_by_pattern:
        for key, inner in value.items():
            done = changed.get(key, inner)
            for one in _of_key(node, key):
                done = _integers(one, done)
            if done is not inner:
                changed[key] = done
    return {**value, **changed} if changed else value


def _integers_of_list(node: _Node, value: list[Any]) -> list[Any]:
    prefix, rest = node.prefix, node.items
    changed: dict[int, Any] = {}
    for index, inner in enumerate(value):
        one = prefix[index] if index < len(prefix) else rest
        if one is None:
            break
        if type(inner) is dict and one.reference is None:
            done = _integers_of_dict(one, inner) if one.ways or one.ways_by_pattern else inner
        elif type(inner) in _LEADING:
            done = _integers(one, inner)
        else:
            continue
        if done is not inner:
            changed[index] = done
    if not changed:
        return value
    copied = list(value)
    for index, done in changed.items():
        copied[index] = done
    return copied


def followed(schema: dict[str, Any], root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas one step inside of a schema, by the keywords that closure follows."""
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("patternProperties", {}).values(),
        *schema.get("prefixItems", []),
        schema.get("additionalProperties"),
        schema.get("items"),
        pointers.resolve(schema.get("$ref"), root),
    ]
    return (one for one in inner if isinstance(one, dict))


def _tree(root: dict[str, Any]) -> _Node:
    """The schema as nodes: one a schema, however often it is referred to."""
    nodes: dict[int, _Node] = {}
    pending: list[dict[str, Any]] = []

    def node_of(schema: Any) -> _Node:
        if not isinstance(schema, dict):
            # `true` takes anything and `false` nothing: no keys to know either way.
            return _Node({})
        if id(schema) not in nodes:
            nodes[id(schema)] = _Node(schema)
            pending.append(schema)
        return nodes[id(schema)]

    top = node_of(root)
    while pending:
        schema = pending.pop()
        node = nodes[id(schema)]
        node.properties = {key: node_of(inner) for key, inner in schema.get("properties", {}).items()}
        patterns = schema.get("patternProperties", {})
        node.patterns = [(matcher(pattern), node_of(inner)) for pattern, inner in patterns.items()]
        node.prefix = [node_of(inner) for inner in schema.get("prefixItems", [])]
        if isinstance(schema.get("additionalProperties"), dict):
            node.additional = node_of(schema["additionalProperties"])
        if isinstance(schema.get("items"), dict):
            node.items = node_of(schema["items"])
        target = pointers.resolve(schema.get("$ref"), root)
        if isinstance(target, dict):
            node.reference = node_of(target)
    _mark_ways_to_integers(list(nodes.values()))
    return top


def _mark_ways_to_integers(nodes: list[_Node]) -> None:
    grown = True
    while grown:
        grown = False
        for node in nodes:
            if not node.leads_to_integer and any(inner.leads_to_integer for inner in node.inner()):
                node.leads_to_integer = grown = True
    for node in nodes:
        node.ways = {key: inner for key, inner in node.properties.items() if inner.leads_to_integer}
        node.ways_by_pattern = any(inner.leads_to_integer for inner in node.unnamed())
