"""The rules of an action schema. A key outside the vocabulary is refused; one inside has its rule here."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Final

from django_mcp.schema import bound, publish, strict
from django_mcp.schema.closure import Closure
from django_mcp.schema.formats import Formats
from django_mcp.schema.offence import Offence
from django_mcp.schema.values import ValueGate

#: What an action schema publishes, in the order in which it is told.
ACTION_KEYS: Final = (
    "description",
    "properties",
    "required",
    "required_one_of",
    "defaults",
    "notes",
    "related",
    "examples",
)
#: The keys that are never published and stand under `options`; `@action` takes them beside the others.
OPTION_KEYS: Final = (
    "permission",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "background",
    "policy",
    "timeout",
)


def action_offences(name: Any, schema: Any, formats: Formats) -> list[Offence]:
    """Every rule one declared action breaks. `schema` is without its options."""
    label = label_of(name)
    return [
        Offence(rule=rule, message=f"Action {label}: {problem}.", fix=fix, callback="actions", action=label)
        for rule, problem, fix in _problems(name, schema)
    ] + _schema_offences(label, schema, formats)


def label_of(name: Any) -> str:
    """An action's name as a message shows it, on one line whatever it is."""
    return name if isinstance(name, str) and name and name.isprintable() else bound.render(repr(name))


_Problem = tuple[str, str, str]

_SURROGATE = "holds a lone surrogate, which no UTF-8 can carry"
_SURROGATE_FIX = "Remove it; it is half of a character."


def _problems(name: Any, schema: Any) -> Iterator[_Problem]:
    if not isinstance(name, str):
        yield "action-name", f"the name is {bound.render(name)}, which is no string", "Name it with a string."
    elif not name or "\n" in name:
        problem = "the name is empty or holds a newline, which would break the list of actions"
        yield "action-name", problem, "Name it in one line."
    elif not bound.is_sendable(name):
        yield "action-name", f"the name {_SURROGATE}", _SURROGATE_FIX
    if type(schema) is not dict:
        fix = "Write a dict; @action takes its keys by name, as in @action(description=...)."
        yield "action-shape", f"its schema is {bound.render(schema)}, not a plain dict", fix
        return
    stray = sorted(bound.render(key) for key in schema if key not in ACTION_KEYS)
    if stray:
        problem = (
            f"unknown keys {', '.join(stray)}; known are {', '.join(ACTION_KEYS)}, "
            f"and the options {', '.join(OPTION_KEYS)}"
        )
        yield "action-keys", problem, _stray_fix(stray)
    yield from _description_problems(schema)
    if "properties" not in schema:
        problem = "it has no properties"
        fix = "Add properties (an action without data has properties={}), or type hints to every parameter."
        yield "properties-missing", problem, fix
    elif type(schema["properties"]) is not dict:
        problem = f"properties is {bound.render(schema['properties'])}, not a plain dict"
        yield "properties-shape", problem, "Write a dict from property name to JSON Schema."
    declared = schema.get("properties")
    names = declared if type(declared) is dict else {}
    yield from _required_problems(schema, names)
    yield from _group_problems(schema, names)
    yield from _default_problems(schema, names)
    yield from _help_problems(schema)


def _stray_fix(stray: list[str]) -> str:
    misplaced = [key for key in stray if key in OPTION_KEYS]
    others = [key for key in stray if key not in OPTION_KEYS]
    fixes = [f"Put {', '.join(misplaced)} into options."] if misplaced else []
    return " ".join([*fixes, *([spelling(others, (*ACTION_KEYS, *OPTION_KEYS))] if others else [])])


def spelling(stray: list[str], known: Iterable[str]) -> str:
    """What to do about names that are not known."""
    nearest = publish.suggestions(stray, known)
    if not nearest:
        return "Remove them or correct their spelling."
    return f"Did you mean {' and '.join(dict.fromkeys(nearest.values()))}?"


def _description_problems(schema: dict[Any, Any]) -> Iterator[_Problem]:
    if "description" not in schema:
        yield "description-missing", "it has no description", "Describe in one line what the action does."
    elif not isinstance(schema["description"], str):
        problem = f"description is {bound.render(schema['description'])}, which is no string"
        yield "description-shape", problem, "Write one line of text."
    elif "\n" in schema["description"]:
        problem = "description holds a newline, which would break the list of actions"
        yield "description-newline", problem, "Keep description to one line; put the rest into notes."
    elif not bound.is_sendable(schema["description"]):
        yield "description-shape", f"description {_SURROGATE}", _SURROGATE_FIX


def _names_problem(value: Any) -> str | None:
    if type(value) is not list or not all(isinstance(item, str) for item in value):
        return f"is {bound.render(value)}, not a list of property names"
    return None


def _duplicates(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _listed(names: Any) -> str:
    return ", ".join(bound.render(name) for name in names)


def _required_problems(schema: dict[Any, Any], declared: dict[Any, Any]) -> Iterator[_Problem]:
    required = schema.get("required", [])
    problem = _names_problem(required)
    if problem:
        yield "required-shape", f"required {problem}", "Write a list of strings."
        return
    if _duplicates(required):
        yield (
            "required-duplicate",
            f"required names {_listed(_duplicates(required))} twice",
            "Name each once.",
        )
    undeclared = [name for name in required if name not in declared]
    if undeclared:
        problem = f"required names {_listed(undeclared)}, which properties does not declare"
        yield "required-undeclared", problem, "Declare them in properties or drop them."


def _group_problems(schema: dict[Any, Any], declared: dict[Any, Any]) -> Iterator[_Problem]:
    groups = schema.get("required_one_of", [])
    if type(groups) is not list or any(_names_problem(group) for group in groups):
        problem = f"required_one_of is {bound.render(groups)}, not a list of lists of property names"
        yield "groups-shape", problem, 'Write a list of groups, as in [["id"], ["name", "color"]].'
        return
    for group in groups:
        if not group:
            yield "group-empty", "required_one_of holds an empty group", "Remove it or name its properties."
        if _duplicates(group):
            problem = f"the group {_listed(group)} names {_listed(_duplicates(group))} twice"
            yield "group-duplicate-name", problem, "Name each property once in a group."
        undeclared = [name for name in group if name not in declared]
        if undeclared:
            problem = (
                f"the group {_listed(group)} names {_listed(undeclared)}, which properties does not declare"
            )
            yield "group-undeclared", problem, "Declare them in properties or drop them."
    for one, other in combinations(filter(None, groups), 2):
        if set(one) == set(other):
            yield "groups-equal", f"the group {_listed(one)} is declared twice", "Keep one of the two."
        elif set(one) < set(other) or set(other) < set(one):
            small, large = sorted((one, other), key=len)
            problem = f"the group {_listed(large)} is dead: {_listed(small)} already satisfies"
            yield "group-superset", problem, "Remove the larger group, or make the smaller one larger."


def _default_problems(schema: dict[Any, Any], declared: dict[Any, Any]) -> Iterator[_Problem]:
    defaults = schema.get("defaults", {})
    if type(defaults) is not dict:
        problem = f"defaults is {bound.render(defaults)}, not a plain dict"
        yield "defaults-shape", problem, "Write a dict from property name to value."
        return
    undeclared = [name for name in defaults if not isinstance(name, str) or name not in declared]
    if undeclared:
        problem = f"defaults names {_listed(undeclared)}, which properties does not declare"
        yield "defaults-undeclared", problem, "Declare them in properties or drop them."
    required = schema.get("required", [])
    both = [name for name in defaults if type(required) is list and name in required]
    if both:
        problem = f"{_listed(both)} is required and has a default, which would never be used"
        yield "defaults-required", problem, "Drop the default, or make the property optional."


def _help_problems(schema: dict[Any, Any]) -> Iterator[_Problem]:
    notes, related, examples = schema.get("notes", ""), schema.get("related", []), schema.get("examples", [])
    if not isinstance(notes, str):
        yield "notes-shape", f"notes is {bound.render(notes)}, which is no string", "Write text."
    elif not bound.is_sendable(notes):
        yield "notes-shape", f"notes {_SURROGATE}", _SURROGATE_FIX
    if type(related) is not list or not all(isinstance(item, str) for item in related):
        problem = f"related is {bound.render(related)}, not a list of action names"
        yield "related-shape", problem, "Write a list of strings."
    if type(examples) is not list or not all(type(item) is dict for item in examples):
        problem = f"examples is {bound.render(examples)}, not a list of payloads"
        yield "examples-shape", problem, "Write a list of dicts, each the data of a call."


def _schema_offences(label: str, schema: Any, formats: Formats) -> list[Offence]:
    """What is wrong inside the property schemas, and with defaults and examples as JSON."""
    if type(schema) is not dict or type(schema.get("properties")) is not dict:
        return []
    root = {"type": "object", "properties": schema["properties"]}
    found = strict.schema_offences(root, formats, callback="actions", action=label)
    values = [
        Offence(
            rule="action-value",
            message=f"Action {label}: {key}: {fault.path or 'it'} {fault.problem}.",
            fix=fault.fix,
            callback="actions",
            action=label,
        )
        for key in ("defaults", "examples")
        for fault in strict.value_faults(schema.get(key))
    ]
    defaults = schema.get("defaults")
    if found or values or type(defaults) is not dict:
        return found + values
    return _defaults_offences(label, defaults, Closure.of(schema["properties"]), formats)


def _defaults_offences(
    label: str, defaults: dict[str, Any], closure: Closure, formats: Formats
) -> list[Offence]:
    """Defaults held to what a caller's data is held to."""
    declared = {name: value for name, value in defaults.items() if name in closure.properties}
    unknown = closure.unknown(declared)
    if unknown:
        return [
            Offence(
                rule="defaults-unknown-key",
                message=f"Action {label}: defaults holds {_listed(key.path for key in unknown)}, "
                "which a caller could not send.",
                fix="Remove the keys, or declare them in the property's schema.",
                callback="actions",
                action=label,
            )
        ]
    problems, _ = ValueGate(closure.schema, formats).problems(declared, most=sys.maxsize)
    return [
        Offence(
            rule="defaults-invalid",
            message=f"Action {label}: the default at {path} {'; '.join(texts)}.",
            fix="Write a default that the property's own schema accepts.",
            callback="actions",
            action=label,
        )
        for path, texts in problems
    ]
