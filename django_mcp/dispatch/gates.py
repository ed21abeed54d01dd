"""The gates a call passes before its handler runs. Each answers with what the caller needs to call right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django_mcp.schema import bound, publish
from django_mcp.schema.bound import LISTED
from django_mcp.schema.closure import is_closed

if TYPE_CHECKING:
    from django_mcp.registry.registration import ActionEntry, Registration
    from django_mcp.schema.values import Problems

#: The arguments of an action tool and their JSON types, as its published input schema states them.
ACTION_ARGUMENTS = {"action": "string", "data": "object"}
_TYPES = {"string": str, "object": dict}
#: In this order, as a bool is an int.
_SENT: dict[str, Any] = {**_TYPES, "array": list, "boolean": bool, "number": (int, float)}

Body = dict[str, Any]


def check_arguments(
    arguments: Mapping[str, Any], types: Mapping[str, str], owner: str, about: str | None
) -> Body | None:
    """Gates 1 and 2: only known arguments, each of its JSON type. An explicit null is a wrong type.

    `owner` takes the arguments; `about` is the tool whose help says more, None for the index.
    """
    for name, value in arguments.items():
        if name not in types or not isinstance(value, _TYPES[types[name]]):
            return _refused_arguments(arguments, types, owner, publish.pointer(about))
    return None


def _refused_arguments(
    arguments: Mapping[str, Any], types: Mapping[str, str], owner: str, help_call: str
) -> Body:
    unknown = sorted(name for name in arguments if name not in types)
    if unknown:
        # What an action takes is often sent beside data.
        where = "; what an action takes goes into data" if types is ACTION_ARGUMENTS else ""
        return {**_unknown_arguments(unknown, list(types), owner, where), "help": help_call}
    wrong = {name: types[name] for name in arguments if not isinstance(arguments[name], _TYPES[types[name]])}
    told = " and ".join(
        f"{name} must be of JSON type {kind}, not {_json_type(arguments[name])}"
        for name, kind in sorted(wrong.items())
    )
    return {
        "error": "invalid_argument_types",
        "message": f"{told}.",
        "invalid": dict(sorted(wrong.items())),
        "help": help_call,
    }


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    return next(name for name, kinds in _SENT.items() if isinstance(value, kinds))


def _unknown_arguments(unknown: list[str], known: list[str], owner: str, where: str = "") -> Body:
    listed = unknown[:LISTED]
    return {
        "error": "unknown_arguments",
        "message": f"{owner} takes only the arguments {_names(known)}{where}."
        if known
        else f"{owner} takes no arguments.",
        "unknown": [bound.echo(name) for name in listed],
        "unknown_count": len(unknown),
        "allowed": known,
        **_did_you_mean(listed, known),
    }


def no_action(registration: Registration, actions: Mapping[str, ActionEntry], sent: str | None) -> Body:
    """Gates 3 and 4."""
    if sent is not None:
        return unknown_action(registration, actions, sent)
    return {
        "error": "missing_action",
        "message": f"{registration.name} needs an action; its actions are {_names(actions)}.",
        "valid_actions": list(actions),
        "help": publish.pointer(registration.name),
    }


def unknown_action(registration: Registration, actions: Mapping[str, ActionEntry], sent: str) -> Body:
    """Gate 4, as help answers it, too."""
    return {
        "error": "unknown_action",
        "message": f"{registration.name} has no action {bound.echo(sent)!r}; "
        f"its actions are {_names(actions)}.",
        "valid_actions": list(actions),
        **_did_you_mean([sent], actions),
        "help": publish.pointer(registration.name),
    }


def check_data(registration: Registration, entry: ActionEntry, data: dict[str, Any]) -> Body | None:
    """Gates 5 to 8, on the data as the caller sent it: a default counts for nothing here."""
    for name in entry.required:
        if name not in data:
            return _missing_required(registration, entry, data)
    if entry.groups and not any(all(name in data for name in group) for group in entry.groups):
        return _missing_group(registration, entry)
    if entry.gate.is_valid(data):
        return None
    return _unknown_params(registration, entry, data) or _invalid_values(registration, entry, data)


def _missing_required(registration: Registration, entry: ActionEntry, data: Mapping[str, Any]) -> Body:
    missing = [name for name in entry.required if name not in data]
    return {
        "error": "missing_required_fields",
        "message": f"{registration.name} {entry.name} needs {_names(missing)} in data.",
        "missing": missing,
    }


def _missing_group(registration: Registration, entry: ActionEntry) -> Body:
    groups = " OR ".join(f"({' + '.join(group)})" for group in entry.groups)
    return {
        "error": "missing_required_group",
        "message": f"{registration.name} {entry.name} needs one of these groups in data, complete: {groups}",
        "required_one_of": [list(group) for group in entry.groups],
    }


def check_typed(registration: Registration, entry: ActionEntry, arguments: dict[str, Any]) -> Body | None:
    """A typed tool's gates: known arguments, known keys inside of them, right values."""
    if entry.gate.is_valid(arguments):
        return None
    known = list(entry.closure.properties)
    unknown = sorted(name for name in arguments if name not in entry.closure.properties)
    if unknown and is_closed(entry.closure.schema):
        return _unknown_arguments(unknown, known, registration.name)
    return _unknown_params(registration, entry, arguments) or _invalid_values(registration, entry, arguments)


def _unknown_params(registration: Registration, entry: ActionEntry, data: dict[str, Any]) -> Body | None:
    found = entry.closure.unknown(data)
    if not found:
        return None
    listed = found[:LISTED]
    suggestions: dict[str, Any] = {}
    for unknown in listed:
        suggestions |= publish.suggestions([unknown.key], unknown.allowed)
    owner, place = _place(registration, entry)
    return {
        "error": "unknown_params",
        "message": f"{owner} does not know {_keys(len(found))} in {place}.",
        "unknown": [bound.echo(unknown.path) for unknown in listed],
        "unknown_count": len(found),
        "allowed": {bound.echo(unknown.parent): list(unknown.allowed) for unknown in listed},
        **({"did_you_mean": suggestions} if suggestions else {}),
    }


def _invalid_values(registration: Registration, entry: ActionEntry, data: dict[str, Any]) -> Body:
    problems, count = entry.gate.problems(data)
    return _refused(registration, entry, problems, count)


def refused_values(registration: Registration, entry: ActionEntry, problems: Problems) -> Body:
    """The value gate's answer, for problems that a validator of the site found."""
    return _refused(registration, entry, problems[:LISTED], len(problems))


def _refused(registration: Registration, entry: ActionEntry, problems: Problems, count: int) -> Body:
    owner, place = _place(registration, entry)
    return {
        "error": "invalid_values",
        "message": f"{owner} refuses {_paths(count)} in {place}.",
        "invalid": [
            {"path": bound.echo(path), "problems": [bound.echo(text) for text in texts]}
            for path, texts in problems
        ],
        "invalid_count": count,
    }


def _place(registration: Registration, entry: ActionEntry) -> tuple[str, str]:
    """What was called, and where what it takes is sent."""
    if registration.typed:
        return registration.name, "arguments"
    return f"{registration.name} {entry.name}", "data"


def _did_you_mean(sent: Iterable[str], known: Iterable[str]) -> Body:
    suggestions = publish.suggestions(sent, known)
    return {"did_you_mean": suggestions} if suggestions else {}


def _paths(count: int) -> str:
    return "a value" if count == 1 else f"values at {count} paths"


def _keys(count: int) -> str:
    return "a key" if count == 1 else f"{count} keys"


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
