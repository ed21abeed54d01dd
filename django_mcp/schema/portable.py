"""What widely used clients refuse in a published tool, though the specification allows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from django_mcp.schema import bound
from django_mcp.schema.keywords import subschemas
from django_mcp.schema.offence import Offence

#: What the model providers take as a function name, and as its description.
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
MAX_DESCRIPTION: Final = 1024

_ROOT_COMPOSITION = ("allOf", "anyOf", "oneOf", "not", "if")


def offences(
    name: str, description: str, input_schema: dict[str, Any] | None, output_schema: dict[str, Any] | None
) -> Iterator[Offence]:
    """Warnings on one tool as tools/list publishes it."""
    if not _NAME.fullmatch(name):
        yield _warning(
            "portable-name",
            "name",
            f"the name {bound.render(name)!r} is longer than 64 characters or holds a dot; "
            "some clients refuse it",
            "Use at most 64 letters, digits, underscores and hyphens.",
        )
    if len(description) > MAX_DESCRIPTION:
        yield _warning(
            "portable-description",
            "description",
            f"the description has {len(description)} characters; some clients take {MAX_DESCRIPTION} at most",
            "Keep it short; details belong into the notes of actions, which help shows.",
        )
    if input_schema is not None:
        yield from _input_warnings(input_schema)
        yield from _schema_warnings(input_schema, "input_schema")
    if output_schema is not None:
        if output_schema.get("type") != "object":
            yield _warning(
                "portable-output-root",
                "output_schema",
                "the root of output_schema is no object, so clients before 2026-07-28 do not get it",
                'Wrap the value, as in {"type": "object", "properties": {"result": ...}}.',
            )
        yield from _schema_warnings(output_schema, "output_schema")


def _input_warnings(schema: dict[str, Any]) -> Iterator[Offence]:
    composed = [keyword for keyword in _ROOT_COMPOSITION if keyword in schema]
    if composed:
        yield _warning(
            "portable-root-composition",
            "input_schema",
            f"the root of input_schema has {', '.join(composed)}; some clients drop the tool, some all tools",
            "Say it in the descriptions of the properties and check it in the handler.",
        )
    if "properties" not in schema:
        yield _warning(
            "portable-properties",
            "input_schema",
            "the root of input_schema has no properties, which some clients require",
            'Add "properties": {}.',
        )


def _schema_warnings(schema: dict[str, Any], callback: str) -> Iterator[Offence]:
    for path, inner in subschemas(schema):
        where = f"{callback} {path}".strip()
        if isinstance(inner, bool):
            if path and not path.endswith("additionalProperties"):
                yield _warning(
                    "portable-boolean",
                    callback,
                    f"{where} is the schema {str(inner).lower()}, which some clients cannot read",
                    "Write a schema with a type.",
                )
            continue
        referring = [keyword for keyword in ("$ref", "$defs") if keyword in inner]
        if referring:
            yield _warning(
                "portable-ref",
                callback,
                f"{where} has {' and '.join(referring)}, which some clients do not resolve",
                'Write the schema in place, or set DJANGO_MCP["INLINE_REFS"].',
            )
        if isinstance(inner.get("type"), list):
            yield _warning(
                "portable-type-list",
                callback,
                f"{where} has a list of types, which some clients refuse",
                "Name one type, or use anyOf with one schema a type.",
            )


def _warning(rule: str, callback: str, problem: str, fix: str) -> Offence:
    return Offence(rule=rule, message=f"{problem}.", fix=fix, callback=callback, warning=True)
