"""What is published about actions: tools/list's input schema, the digest of a refusal, help's rendering."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from django_mcp.schema import bound


def summaries(actions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line an action, sorted by name; the author's text is untouched."""
    return [f"{name}: {actions[name]['description']}" for name in sorted(actions)]


def input_schema(actions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The input schema of a tool of these actions: their names and summaries, none of their constraints."""
    return {
        "type": "object",
        "required": ["action"],
        "additionalProperties": False,
        "properties": {
            "action": {
                "type": "string",
                "enum": sorted(actions),
                "description": "\n".join(summaries(actions)),
            },
            "data": {"type": "object"},
        },
    }


def digest(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """What an action takes, in the words a refusal of its data carries; `properties` are closed."""
    published = {
        "properties": properties,
        "required": schema.get("required", []),
        "defaults": schema.get("defaults", {}),
    }
    if schema.get("required_one_of"):
        published["required_one_of"] = schema["required_one_of"]
    return published


def pointer(tool: str | None = None, action: str | None = None) -> str:
    """A help call to copy."""
    named = [f'{key}: "{value}"' for key, value in (("tool", tool), ("action", action)) if value is not None]
    return f"help {{{', '.join(named)}}}"


def explanation(taken: Mapping[str, Any], tool: str, action: str | None = None) -> dict[str, Any]:
    """What a refusal of data ends with: the action where there is one, what it takes, where to read more."""
    called = {} if action is None else {"action": action}
    return {**called, "input_schema": taken, "help": pointer(tool, action)}


def rendered(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """An action as help shows it: the keys it declares, `required` always, its closed `properties`."""
    published = {
        "description": schema["description"],
        "properties": properties,
        "required": schema.get("required", []),
    }
    for key in ("defaults", "required_one_of", "notes", "related", "examples"):
        if key in schema:
            published[key] = schema[key]
    return published


def suggestions(sent: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """For each name sent, the known one it most resembles, case ignored; nothing where none is near."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.lower(), name)
    nearest: dict[str, str] = {}
    for name in sent:
        # A longer name is no misspelling, and comparing it costs the square of its length.
        if len(name) > 64:
            continue
        found = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
        if found:
            nearest[bound.echo(name)] = folded[found[0]]
    return nearest
