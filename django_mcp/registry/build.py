"""From one reading of a tool class to its Registration, or to everything that is wrong with it."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from django_mcp.authoring.declare import OPTION_KEYS
from django_mcp.authoring.reading import Reading, read
from django_mcp.authoring.tool import BaseTool, Tool
from django_mcp.registry.registration import ActionEntry, Registration
from django_mcp.schema import bound, headers, publish, strict
from django_mcp.schema.closure import Closure
from django_mcp.schema.formats import Formats
from django_mcp.schema.offence import Offence
from django_mcp.schema.values import ValueGate
from django_mcp.schema.vocabulary import action_offences, label_of

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_FLAGS = ("read_only", "destructive", "idempotent", "open_world", "background")
#: Options whose rooms are not built yet: accepting them in silence would promise what does not happen.
_UNAVAILABLE = ("background", "policy", "timeout")
_CONTRADICTIONS = (
    ("readOnlyHint", True, "destructive"),
    ("destructiveHint", False, "destructive"),
)


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome of one declaration: a registration, or None when an offence refuses it."""

    declared: Any
    label: str
    registration: Registration | None
    offences: tuple[Offence, ...]


def build(declared: Any, formats: Formats) -> Built:
    if not (inspect.isclass(declared) and issubclass(declared, BaseTool)):
        offence = Offence(
            rule="not-a-tool",
            message=f"@register takes a subclass of Tool or BaseTool, not {bound.render(declared)}.",
            fix="Decorate a class that derives from django_mcp.Tool.",
            callback="register",
        )
        return Built(declared, getattr(declared, "__qualname__", bound.render(declared)), None, (offence,))
    reading = read(declared)
    offences = [*reading.offences, *_name_offences(reading), *_option_offences(reading)]
    if isinstance(reading.tool, Tool):
        for name, schema in reading.actions.items():
            offences += _action_offences(name, schema, formats)
        offences += _related_warnings(reading)
    elif "input_schema" in reading.values:
        offences += _input_offences(reading.values["input_schema"], formats)
    offences += _output_offences(reading, formats)
    offences += _annotation_warnings(reading)
    refused = any(not offence.warning for offence in offences)
    registration = None if refused else _registration(reading, formats)
    return Built(declared, reading.label, registration, tuple(offences))


def _name_offences(reading: Reading) -> Iterable[Offence]:
    name = reading.values.get("name")
    if name is not None and not _NAME.fullmatch(name):
        yield Offence(
            rule="tool-name",
            message=f"The tool name {bound.render(name)!r} is not 1 to 128 characters of A-Z a-z 0-9 _ . -",
            fix="Set name to such a word, for example the snake_case of the class.",
            callback="name",
        )


def _option_offences(reading: Reading) -> Iterable[Offence]:
    yield from _permission_offences(reading.values["permission"], None)
    if "options" in reading.values:
        allowed = tuple(key for key in OPTION_KEYS if key != "permission")
        yield from _options(reading.values["options"], allowed, None)


def _permission_offences(permission: Any, action: str | None) -> Iterable[Offence]:
    codename = isinstance(permission, str) and permission.count(".") == 1 and all(permission.split("."))
    if permission is not None and not codename and not callable(permission):
        yield Offence(
            rule="permission",
            message=f"{_of(action)}permission {bound.render(repr(permission))} is neither a codename "
            "nor a callable.",
            fix='Write "app_label.codename", or a callable that takes the context and returns a bool.',
            callback="permission" if action is None else "actions",
            action=action,
        )


def _of(action: str | None) -> str:
    return "" if action is None else f"Action {action}: "


def _options(options: Any, allowed: tuple[str, ...], action: str | None) -> Iterable[Offence]:
    callback = "options" if action is None else "actions"
    if type(options) is not dict:
        yield Offence(
            rule="options-shape",
            message=f"{_of(action)}options must be a plain dict; it is {bound.render(options)}.",
            fix=f"Write options as a dict of {', '.join(allowed)}.",
            callback=callback,
            action=action,
        )
        return
    stray = sorted(bound.render(key) for key in options if key not in allowed)
    if stray:
        yield Offence(
            rule="options-unknown",
            message=f"{_of(action)}unknown options {', '.join(stray)}; known are {', '.join(allowed)}.",
            fix="Remove them or correct their spelling.",
            callback=callback,
            action=action,
        )
    for flag in _FLAGS:
        if flag in options and type(options[flag]) is not bool:
            yield Offence(
                rule="options-type",
                message=f"{_of(action)}{flag} must be True or False; it is {bound.render(options[flag])}.",
                fix=f"Set {flag} to True or False.",
                callback=callback,
                action=action,
            )
    for option in _UNAVAILABLE:
        if options.get(option):
            yield Offence(
                rule="options-unavailable",
                message=f"{_of(action)}{option} is not available in this version of django_mcp.",
                fix=f"Remove {option}.",
                callback=callback,
                action=action,
            )


def _action_offences(name: Any, schema: Any, formats: Formats) -> Iterable[Offence]:
    published, options = _split(schema)
    if isinstance(published, dict) and isinstance(published.get("description"), Promise):
        # A lazily translated description is judged by its text.
        published = {**published, "description": str(published["description"])}
    yield from action_offences(name, published, formats)
    label = label_of(name)
    yield from _options(options, OPTION_KEYS, label)
    if type(options) is dict:
        yield from _permission_offences(options.get("permission"), label)


def _split(schema: Any) -> tuple[Any, Any]:
    """The published part of an action schema and its options."""
    if type(schema) is not dict:
        return schema, {}
    return {key: value for key, value in schema.items() if key != "options"}, schema.get("options", {})


def _related_warnings(reading: Reading) -> Iterable[Offence]:
    for name, schema in reading.actions.items():
        related = schema.get("related") if type(schema) is dict else None
        if not isinstance(related, list):
            continue
        for other in related:
            if isinstance(other, str) and other not in reading.actions:
                yield Offence(
                    rule="related-unknown",
                    message=f"Action {name}: related names {bound.render(other)!r}, which is no action "
                    "of the tool.",
                    fix="Correct the name or drop it; help leaves it out.",
                    callback="actions",
                    action=name,
                    warning=True,
                )


def _input_offences(schema: dict[str, Any], formats: Formats) -> Iterable[Offence]:
    yield from strict.schema_offences(schema, formats, callback="input_schema")
    if schema.get("type") != "object":
        yield Offence(
            rule="input-schema-root",
            message='The root of input_schema must say "type": "object" (MCP server/tools).',
            fix='Add "type": "object" at the root.',
            callback="input_schema",
        )
    yield from headers.annotation_offences(schema)


def _output_offences(reading: Reading, formats: Formats) -> Iterable[Offence]:
    schema = reading.values.get("output_schema")
    if schema is None:
        return
    yield from strict.schema_offences(schema, formats, callback="output_schema")
    added = [
        key
        for key, callback in (("hints", "hints"), ("context", "action_context"))
        if _overrides(reading, callback)
    ]
    declared = schema.get("properties")
    missing = [key for key in added if not (isinstance(declared, dict) and key in declared)]
    if schema.get("additionalProperties") is False and missing:
        yield Offence(
            rule="output-schema-closed",
            message=f"output_schema is closed, yet the tool adds {' and '.join(missing)} to its answers.",
            fix=f"Declare {' and '.join(missing)} in output_schema's properties, or leave it open.",
            callback="output_schema",
            warning=True,
        )


def _overrides(reading: Reading, callback: str) -> bool:
    return getattr(type(reading.tool), callback) is not getattr(BaseTool, callback)


def _annotation_warnings(reading: Reading) -> Iterable[Offence]:
    stated = reading.values.get("annotations") or {}
    for name, options in _all_options(reading):
        for hint, value, option in _CONTRADICTIONS:
            if stated.get(hint) is value and options.get(option) is True:
                yield Offence(
                    rule="annotations-contradict",
                    message=f"annotations say {hint}: {value}, yet {name} is declared {option}.",
                    fix="Make annotations and options say the same; annotations are never derived.",
                    callback="annotations",
                    warning=True,
                )


def _all_options(reading: Reading) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if "options" in reading.values:
        yield "the tool", reading.values["options"]
    for name, schema in reading.actions.items():
        options = _split(schema)[1]
        if type(options) is dict:
            yield f"action {name}", options


def _registration(reading: Reading, formats: Formats) -> Registration:
    """Everything is copied out of the declaration, so that what was judged is what is served from now on."""
    tool, values = reading.tool, copy.deepcopy(reading.values)
    actions = {name: _action_entry(name, reading, formats) for name in sorted(reading.actions)}
    output_schema = values["output_schema"]
    input_schema = values.get("input_schema")
    permissions = [values["permission"], *(entry.permission for entry in actions.values())]
    run = None if isinstance(tool, Tool) else tool.run
    return Registration(
        name=values["name"],
        tool=tool,
        description=values["description"],
        title=values["title"],
        annotations=values["annotations"] or None,
        icons=tuple(values["icons"] or ()),
        tags=frozenset(values["tags"]),
        permission=values["permission"],
        options=values.get("options", {}),
        actions=actions,
        input_schema=input_schema,
        output_schema=output_schema,
        output_gate=None if output_schema is None else ValueGate(output_schema, formats),
        header_rows=() if input_schema is None else headers.rows(input_schema),
        run=run,
        is_async=run is not None and inspect.iscoroutinefunction(run),
        guarded=any(permission is not None for permission in permissions),
        has_context=_overrides(reading, "action_context"),
    )


def _action_entry(name: str, reading: Reading, formats: Formats) -> ActionEntry:
    schema, options = copy.deepcopy(_split(reading.actions[name]))
    closure = Closure.of(schema["properties"])
    handler = reading.handlers[name]
    return ActionEntry(
        name=name,
        description=schema["description"],
        required=tuple(schema.get("required", ())),
        groups=tuple(tuple(group) for group in schema.get("required_one_of", ())),
        defaults=schema.get("defaults", {}),
        closure=closure,
        gate=ValueGate(closure.schema, formats),
        digest=publish.digest(schema, closure),
        rendered=publish.rendered(schema, closure),
        related=tuple(schema.get("related", ())),
        handler=handler,
        is_async=inspect.iscoroutinefunction(handler),
        permission=options.get("permission"),
        options=options,
    )
