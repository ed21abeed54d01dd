"""From one reading of a tool class to its Registration, or to everything that is wrong with it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise

from django_mcp.authoring.icon import wires
from django_mcp.authoring.reading import Reading, additions, handler_offences, overrides, read
from django_mcp.authoring.tool import BaseTool, Tool
from django_mcp.registry import names, options
from django_mcp.registry.built import Built, origin
from django_mcp.registry.registration import ActionEntry, Registration
from django_mcp.registry.strays import astray
from django_mcp.registry.typed import Derived, build_function, build_toolset, derive_actions, refuse_given
from django_mcp.schema import bound, headers, misspelt, publish, strict
from django_mcp.schema.closure import Closure
from django_mcp.schema.formats import Formats
from django_mcp.schema.offence import Offence
from django_mcp.schema.values import ValueGate
from django_mcp.schema.vocabulary import OPTION_KEYS, action_offences, label_of
from django_mcp.typed.tool import TOOL_MARK, NoFunction, Toolset

_CONTRADICTIONS = (
    ("readOnlyHint", True, "destructive"),
    ("destructiveHint", False, "destructive"),
)


def build(declared: Any, formats: Formats) -> list[Built]:
    """The tools of one declaration."""
    if inspect.isclass(declared) and issubclass(declared, Toolset):
        return list(build_toolset(declared, formats))
    if isinstance(declared, NoFunction):
        return [refuse_given(declared.given)]
    if hasattr(declared, TOOL_MARK) and not inspect.isclass(declared):
        return [build_function(declared, formats)]
    return [_build_tool(declared, formats)]


def _build_tool(declared: Any, formats: Formats) -> Built:
    if not (inspect.isclass(declared) and issubclass(declared, BaseTool)):
        offence = Offence(
            rule="not-a-tool",
            message=f"@register takes a subclass of Tool, BaseTool or Toolset, not {bound.render(declared)}.",
            fix="Decorate a class that derives from django_mcp.Tool; a function takes @tool.",
            callback="register",
        )
        return Built(
            declared, getattr(declared, "__qualname__", bound.render(declared)), None, (offence,), None
        )
    reading = read(declared)
    derived = derive_actions(reading, formats)
    offences = [*reading.offences, *handler_offences(reading)]
    offences += astray(declared, TOOL_MARK, "@tool", "Mark it with @action, or derive from Toolset.")
    offences += [*_name_offences(reading), *_option_offences(reading)]
    if isinstance(reading.tool, Tool):
        for name, schema in reading.actions.items():
            tolerant = derived[name].formats if name in derived else formats
            offences += _action_offences(name, schema, tolerant)
            stated, handler = _split(schema)[1], reading.handlers.get(name)
            offences += options.timeout_offences(stated, handler, "actions", label_of(name))
        offences += _related_warnings(reading)
    else:
        stated, handler = reading.values.get("options"), getattr(reading.tool, "run", None)
        offences += options.timeout_offences(stated, handler, "run", None)
    if "input_schema" in reading.values:
        offences += _input_offences(reading.values["input_schema"], formats)
    offences += _output_offences(reading, formats)
    offences += _annotation_warnings(reading)
    refused = any(not offence.warning for offence in offences)
    registration = None if refused else _registration(reading, derived, formats)
    return Built(declared, reading.label, registration, tuple(offences), origin(declared))


def _name_offences(reading: Reading) -> Iterable[Offence]:
    problem = names.problem(reading.values["name"]) if "name" in reading.values else None
    if problem is not None:
        yield Offence("tool-name", *problem, callback="name")


def _option_offences(reading: Reading) -> Iterable[Offence]:
    yield from options.permission_offences(reading.values["permission"], None)
    if "options" in reading.values:
        allowed = tuple(key for key in OPTION_KEYS if key != "permission")
        yield from options.offences(reading.values["options"], allowed, None)


def _action_offences(name: Any, schema: Any, formats: Formats) -> Iterable[Offence]:
    published, stated = _split(schema)
    if isinstance(published, dict) and isinstance(published.get("description"), Promise):
        # A lazily translated description is judged by its text.
        published = {**published, "description": str(published["description"])}
    yield from action_offences(name, published, formats)
    label = label_of(name)
    if isinstance(published, dict):
        yield from misspelt.offences(
            {"properties": published.get("properties")}, callback="actions", action=label
        )
    yield from options.offences(stated, OPTION_KEYS, label)
    if type(stated) is dict:
        yield from options.permission_offences(stated.get("permission"), label)


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
    yield from misspelt.offences(schema, callback="input_schema")
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
    yield from misspelt.offences(schema, callback="output_schema")
    declared = schema.get("properties")
    added = additions(reading.tool)
    missing = [key for key in added if not (isinstance(declared, dict) and key in declared)]
    if schema.get("additionalProperties") is False and missing:
        yield Offence(
            rule="output-schema-closed",
            message=f"output_schema is closed, yet the tool adds {' and '.join(missing)} to its answers.",
            fix=f"Declare {' and '.join(missing)} in output_schema's properties, or leave it open.",
            callback="output_schema",
            warning=True,
        )


def _annotation_warnings(reading: Reading) -> Iterable[Offence]:
    stated = reading.values.get("annotations") or {}
    for name, flags in _all_options(reading):
        for hint, value, option in _CONTRADICTIONS:
            if stated.get(hint) is value and flags.get(option) is True:
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
        flags = _split(schema)[1]
        if type(flags) is dict:
            yield f"action {name}", flags


def _registration(reading: Reading, derived: Mapping[str, Derived], formats: Formats) -> Registration:
    """Everything is copied out of the declaration, so that what was judged is what is served from now on."""
    tool, values = reading.tool, copy.deepcopy(reading.values)
    actions = {
        name: _action_entry(values["name"], name, reading, derived.get(name), formats)
        for name in sorted(reading.actions)
    }
    output_schema = values["output_schema"]
    input_schema = values.get("input_schema")
    permissions = [values["permission"], *(entry.permission for entry in actions.values())]
    run = None if isinstance(tool, Tool) else tool.run
    options = values.get("options", {})
    if run is not None and (values["annotations"] or {}).get("destructiveHint") is True:
        # Said to clients, it holds for the server too: a tool without actions is destructive or it is not.
        options = {"destructive": True, **options}
    return Registration(
        name=values["name"],
        tool=tool,
        sender=type(tool),
        description=values["description"],
        title=values["title"],
        annotations=values["annotations"] or None,
        icons=wires(values["icons"]),
        tags=frozenset(values["tags"]),
        permission=values["permission"],
        options=options,
        actions=actions,
        input_schema=input_schema,
        output_schema=output_schema,
        output_gate=None if output_schema is None else ValueGate(output_schema, formats),
        header_rows=() if input_schema is None else headers.rows(input_schema),
        run=run,
        is_async=run is not None and inspect.iscoroutinefunction(run),
        guarded=any(permission is not None for permission in permissions),
        has_context=overrides(tool, "action_context"),
    )


def _action_entry(
    tool: str, name: str, reading: Reading, derived: Derived | None, formats: Formats
) -> ActionEntry:
    schema, stated = copy.deepcopy(_split(reading.actions[name]))
    closure = Closure.of(schema["properties"])
    properties = closure.properties if derived is None else derived.published
    handler = reading.handlers[name]
    return ActionEntry(
        name=name,
        description=schema["description"],
        required=tuple(schema.get("required", ())),
        groups=tuple(tuple(group) for group in schema.get("required_one_of", ())),
        defaults=schema.get("defaults", {}),
        closure=closure,
        gate=ValueGate(closure.schema, formats if derived is None else derived.formats),
        explanation=publish.explanation(publish.digest(schema, properties), tool, name),
        rendered=publish.rendered(schema, properties),
        related=tuple(schema.get("related", ())),
        handler=handler,
        is_async=inspect.iscoroutinefunction(handler),
        permission=stated.get("permission"),
        options=stated,
        convert=None if derived is None else derived.convert,
    )
