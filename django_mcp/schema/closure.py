"""Which objects of a schema are closed, and what follows from it for what is published and for what is
accepted.

An object schema is closed when it says `additionalProperties: false`, or declares `properties` and says
nothing about others, by `additionalProperties` or `unevaluatedProperties`. Both uses follow the same
keywords: `properties`, `patternProperties`, `additionalProperties`, `items`, `prefixItems` and local `$ref`.
Composition (`anyOf` and its kin) is not followed: it is the value gate's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
        "ends",
        "integer",
        "items",
        "leads_to_closed",
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
        self.leads_to_closed = self.closed
        #: Whether nothing inside of it leads to a closed object.
        self.ends = False
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

    @property
    def is_tangled(self) -> bool:
        """Whether one value may be judged by several schemas inside of this one."""
        inside = self.properties or self.patterns or self.additional or self.items or self.prefix
        return len(self.patterns) + bool(self.properties) > 1 or bool(self.reference and inside)

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

    __slots__ = ("_is_tangled", "_root", "properties", "schema")

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.properties: dict[str, Any] = schema["properties"]
        self._root, self._is_tangled = _tree(schema)

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
        # All that judges a value at once: one by one, their number could double with every level.
        pending: list[tuple[list[_Node], Any, str]] = [(_judging([self._root]), data, paths.ROOT)]
        while pending:
            nodes, value, path = pending.pop()
            if isinstance(value, dict):
                if all(node.ends and value.keys() <= node.properties.keys() for node in nodes):
                    continue
                for key, inner in value.items():
                    inside: list[_Node] = []
                    refusing: list[_Node] = []
                    for node in nodes:
                        of_key = _of_key(node, key)
                        inside += [one for one in of_key if one.leads_to_closed]
                        if node.closed and not of_key:
                            refusing.append(node)
                    if refusing:
                        where = paths.join(path, key)
                        found[where] = UnknownKey(where, key, path, _common(refusing))
                    if inside and isinstance(inner, (dict, list)):
                        pending.append((_judging(inside), inner, paths.join(path, key)))
            else:
                for index, inner in enumerate(value):
                    judging = [one for node in nodes for one in _of_index(node, index)]
                    inside = [one for one in judging if one.leads_to_closed]
                    if inside and isinstance(inner, (dict, list)):
                        pending.append((_judging(inside), inner, paths.item(path, index)))
        return [found[path] for path in sorted(found)]

    def integers(self, data: Any) -> Any:
        """The data with whole floats as integers where the schema says integer. Copies only what changes."""
        if not self._root.leads_to_integer:
            return data
        return (
            _integers_of_all(_judging([self._root]), data)
            if self._is_tangled
            else _integers(self._root, data)
        )


def _common(nodes: list[_Node]) -> tuple[str, ...]:
    """The names that every one of the closed schemas of an object has."""
    first, *others = nodes
    return tuple(name for name in first.names if all(name in other.names for other in others))


def _judging(nodes: list[_Node]) -> list[_Node]:
    """These nodes and those they refer to, each once."""
    if len(nodes) == 1 and nodes[0].reference is None:
        return nodes
    judging: dict[int, _Node] = {}
    for node in nodes:
        one: _Node | None = node
        while one is not None and id(one) not in judging:
            judging[id(one)] = one
            one = one.reference
    return list(judging.values())


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


def _of_index(node: _Node, index: int) -> list[_Node]:
    of_item = node.prefix[index] if index < len(node.prefix) else node.items
    return [] if of_item is None else [of_item]


#: What is a whole float itself, or may hold one.
_LEADING = frozenset({float, dict, list})


def _integers_of_all(nodes: list[_Node], value: Any) -> Any:
    """What `_integers` does, where several schemas judge one value."""
    nodes = [node for node in nodes if node.leads_to_integer]
    kind = type(value)
    if kind is float:
        return int(value) if value.is_integer() and any(node.integer for node in nodes) else value
    if not nodes or kind not in _LEADING:
        return value
    changed: dict[Any, Any] = {}
    of_step: Callable[[_Node, Any], list[_Node]] = _of_key if kind is dict else _of_index
    for step, inner in value.items() if kind is dict else enumerate(value):
        done = _integers_of_all(_judging([one for node in nodes for one in of_step(node, step)]), inner)
        if done is not inner:
            changed[step] = done
    if kind is dict:
        return {**value, **changed} if changed else value
    return _changed(value, changed)


def _changed(value: list[Any], changed: dict[int, Any]) -> list[Any]:
    if not changed:
        return value
    copied = list(value)
    for index, done in changed.items():
        copied[index] = done
    return copied


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
            for one in () if key in node.properties else _of_key(node, key):
                if (done := _integers(one, inner)) is not inner:
                    changed[key] = done
    return {**value, **changed} if changed else value


def _integers_of_list(node: _Node, value: list[Any]) -> list[Any]:
    prefix, rest = node.prefix, node.items
    changed: dict[int, Any] = {}
    for index, inner in enumerate(value):
        one = prefix[index] if index < len(prefix) else rest
        if one is None:
            break
        if type(inner) is dict and one.reference is None and not one.ways_by_pattern:
            # Objects are most of what lists hold, and most of them hold nothing to change.
            for key in one.ways:
                if type(inner.get(key)) in _LEADING:
                    break
            else:
                continue
            done = _integers_of_dict(one, inner)
        elif type(inner) in _LEADING:
            done = _integers(one, inner)
        else:
            continue
        if done is not inner:
            changed[index] = done
    return _changed(value, changed)


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


def _tree(root: dict[str, Any]) -> tuple[_Node, bool]:
    """The schema as nodes, one a schema, however often it is referred to, and whether any is tangled."""
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
    _mark_ways(list(nodes.values()))
    return top, any(node.is_tangled for node in nodes.values())


def _mark_ways(nodes: list[_Node]) -> None:
    """Mark what leads to what a walk looks for, so that it goes nowhere else."""
    grown = True
    while grown:
        grown = False
        for node in nodes:
            if not node.leads_to_integer and any(inner.leads_to_integer for inner in node.inner()):
                node.leads_to_integer = grown = True
            if not node.leads_to_closed and any(inner.leads_to_closed for inner in node.inner()):
                node.leads_to_closed = grown = True
    for node in nodes:
        node.ends = not any(inner.leads_to_closed for inner in node.inner())
        node.ways = {key: inner for key, inner in node.properties.items() if inner.leads_to_integer}
        node.ways_by_pattern = any(inner.leads_to_integer for inner in node.unnamed())
