"""`x-mcp-header`: arguments that a client repeats in HTTP headers (MCP transports, mirrored headers)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django_mcp.schema import bound, paths
from django_mcp.schema.keywords import subschemas
from django_mcp.schema.offence import Offence

KEYWORD = "x-mcp-header"

_TOKEN = re.compile(r"[!#$%&'*+\-.^`|~0-9A-Za-z]+")
_TYPES = ("string", "integer", "boolean")


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """One mirrored argument: its keys from the root of the arguments, its header, and how they compare."""

    path: tuple[str, ...]
    header: str
    meta_key: str
    type: str


def rows(input_schema: dict[str, Any]) -> tuple[HeaderRow, ...]:
    """The mirrored arguments of a schema without offences."""
    return tuple(
        HeaderRow(
            path=path,
            header=f"Mcp-Param-{schema[KEYWORD]}",
            meta_key=f"HTTP_MCP_PARAM_{schema[KEYWORD].upper().replace('-', '_')}",
            type=schema["type"],
        )
        for path, schema in _reachable(input_schema, ())
        if KEYWORD in schema
    )


def _reachable(
    schema: dict[Any, Any], path: tuple[str, ...], around: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The property schemas that are reached from the root through `properties` alone."""
    properties = schema.get("properties")
    if type(properties) is not dict:
        return
    within = (*around, id(schema))
    for name, inner in properties.items():
        # One that contains itself is another rule's offence.
        if type(name) is str and type(inner) is dict and id(inner) not in within:
            yield (*path, name), inner
            yield from _reachable(inner, (*path, name), within)


def annotation_offences(input_schema: dict[str, Any]) -> list[Offence]:
    """Annotations that would make a client drop the tool, or that no server could read."""
    return [
        Offence(
            rule="header-annotation", message=f"input_schema: {problem}.", fix=fix, callback="input_schema"
        )
        for problem, fix in _problems(input_schema)
    ]


def _problems(input_schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    reachable = [(path, schema) for path, schema in _reachable(input_schema, ()) if KEYWORD in schema]
    seen: dict[str, str] = {}
    for steps, schema in reachable:
        path = paths.of(steps)
        name = schema[KEYWORD]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            problem = (
                f"{path} has {KEYWORD} {bound.render(name)!r}, which is no header token without underscores"
            )
            yield problem, "Use letters, digits and hyphens; servers drop header names with an underscore."
        elif name.lower() in seen:
            problem = f"{path} and {seen[name.lower()]} have the same {KEYWORD} {name!r}, case ignored"
            yield problem, "Give each annotated property a header of its own."
        else:
            seen[name.lower()] = path
        if schema.get("type") not in _TYPES:
            problem = f"{path} has {KEYWORD} and the type {bound.render(schema.get('type'))}"
            yield problem, f"Only properties of one of the types {', '.join(_TYPES)} can be mirrored."
    annotated = [one for _, one in subschemas(input_schema) if type(one) is dict and KEYWORD in one]
    elsewhere = len(annotated) - len(reachable)
    if elsewhere:
        problem = f"{KEYWORD} stands at {elsewhere} places that are not reached through properties alone"
        yield problem, "Annotate only properties of the root or of objects nested in it."
