"""Which objects of a schema are closed, and what follows from it for what is published and for what is
accepted.

An object schema is closed when it declares `properties` and says nothing about others, or says
`additionalProperties: false`. Both uses follow the same keywords: `properties`, `patternProperties`,
`additionalProperties`, `items`, `prefixItems` and local `$ref`. Composition (`anyOf` and its kin) is not
followed: it is the value gate's.
"""

from __future__ import annotations

import copy
import operator
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
    return additional is False or (additional is None and "properties" in schema)


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
        root = {"type": "object", "properties": copy.deepcopy(properties), "additionalProperties": False}
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
        found: list[UnknownKey] = []
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
                        found.append(UnknownKey(paths.join(path, key), key, path, node.names))
            elif isinstance(value, list):
                for index, inner in enumerate(value):
                    of_item = node.prefix[index] if index < len(node.prefix) else node.items
                    if of_item is not None:
                        pending.append((of_item, inner, paths.item(path, index)))
        return sorted(found, key=lambda unknown: unknown.path)

    def integers(self, data: Any) -> Any:
        """The data with whole floats as integers where the schema says integer. Copies only what changes."""
        return _integers(self._root, data) if self._root.leads_to_integer else data


def _of_key(node: _Node, key: str) -> list[_Node]:
    named = node.properties.get(key)
    nodes = [] if named is None else [named]
    nodes += [inner for pattern, inner in node.patterns if pattern.is_valid(key)]
    if not nodes and node.additional is not None:
        nodes.append(node.additional)
    return nodes


def _integers(node: _Node, value: Any) -> Any:
    if node.reference is not None and node.reference.leads_to_integer:
        value = _integers(node.reference, value)
    kind = type(value)
    if kind is float:
        return int(value) if node.integer and value.is_integer() else value
    if kind is dict:
        return _integers_of_dict(node, value)
    if kind is list:
        return _integers_of_list(node, value)
    return value


def _integers_of_dict(node: _Node, value: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, inner in node.ways.items():
        if key in value and (done := _integers(inner, value[key])) is not value[key]:
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
    done = [_integers(one, inner) for one, inner in zip(prefix, value, strict=False)]
    others = value[len(done) :]
    done += (
        others if rest is None or not rest.leads_to_integer else [_integers(rest, inner) for inner in others]
    )
    # Compared by identity: 2.0 equals 2, and that is the difference looked for.
    return value if all(map(operator.is_, done, value)) else done


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
