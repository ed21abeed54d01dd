"""Local references: `#`, `#/...` (RFC 6901) and `#anchor`."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote, unquote

from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, subschemas


class _Nowhere:
    """What a reference resolves to that leads nowhere."""


NOWHERE: Final = _Nowhere()

_INDEX = re.compile(r"0|[1-9][0-9]*")
ANCHORS = ("$anchor", "$dynamicAnchor")


def resolve(reference: Any, root: Any) -> Any:
    """What a local `$ref` points to, or NOWHERE."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return NOWHERE
    if not _is_pointer(reference):
        return _anchored(reference[1:], root)
    target = root
    for step in _steps(reference):
        if isinstance(target, dict) and step in target:
            target = target[step]
        elif isinstance(target, list) and _INDEX.fullmatch(step) and int(step) < len(target):
            target = target[int(step)]
        else:
            return NOWHERE
    return target


def places(root: Any) -> dict[int, str]:
    """The pointer to every schema in a schema, by the schema's id; without the `#`."""
    found: dict[int, str] = {}
    pending = [(root, "")]
    while pending:
        schema, place = pending.pop()
        found[id(schema)] = place
        for keyword, value in schema.items() if isinstance(schema, dict) else ():
            if keyword in SCHEMA_KEYWORDS:
                pending.append((value, f"{place}/{keyword}"))
            elif keyword in LIST_KEYWORDS:
                pending += [(inner, f"{place}/{keyword}/{index}") for index, inner in enumerate(value)]
            elif keyword in MAP_KEYWORDS:
                pending += [(inner, f"{place}/{keyword}/{_escaped(name)}") for name, inner in value.items()]
    return found


def _escaped(name: str) -> str:
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~")


def leads_to_schema(reference: str) -> bool:
    """Whether a pointer that resolves ends where a schema stands, not in the middle of some value."""
    steps = iter(_steps(reference) if _is_pointer(reference) else ())
    for keyword in steps:
        if keyword in LIST_KEYWORDS | MAP_KEYWORDS:
            if next(steps, None) is None:
                return False
        elif keyword not in SCHEMA_KEYWORDS:
            return False
    return True


def _is_pointer(reference: str) -> bool:
    return reference == "#" or reference.startswith("#/")


def _steps(reference: str) -> list[str]:
    tokens = unquote(reference[1:]).split("/")[1:]
    return [token.replace("~1", "/").replace("~0", "~") for token in tokens]


def _anchored(name: str, root: Any) -> Any:
    for _, schema in subschemas(root):
        if isinstance(schema, dict) and any(schema.get(anchor) == name for anchor in ANCHORS):
            return schema
    return NOWHERE
