from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from django_mcp.encoding import codec
from django_mcp.management.subcommands import Subcommand, common
from django_mcp.management.subcommands.call import answer, pretty

#: What the heading and the table of an action tell already.
_TOLD = frozenset({"tool", "action", "description", "properties", "required", "defaults"})


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    common.add_json(parser)
    parser.add_argument("tool", nargs="?")
    parser.add_argument("action", nargs="?")
    parser.add_argument("--user", help="Username of whom to show it to; without, nobody.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """What the help tool tells a client; with `--json` in its very words."""
    common.catalog(options)
    target = {key: options[key] for key in ("tool", "action") if options[key] is not None}
    result = answer(options, "help", target)
    text = result["content"][0]["text"]
    if result["isError"]:
        raise CommandError(pretty(text))
    if options["json"]:
        command.stdout.write(pretty(text))
        return
    told = codec.decode(text.encode())
    if "tools" in told:
        _tools(command, told["tools"])
    elif "input_schema" in told:
        _heading(command, told["tool"], told["description"])
        schema = told["input_schema"]
        _fields(command, schema.get("properties", {}), schema.get("required", []), {})
        _rest(command, {key: told[key] for key in ("output_schema",) if key in told})
    elif "actions" in told:
        _heading(command, told["tool"], told["description"])
        for name, action in told["actions"].items():
            command.stdout.write()
            _action(command, name, action)
    else:
        _action(command, f"{told['tool']} {told['action']}", told)


def _heading(command: BaseCommand, name: str, description: str) -> None:
    command.stdout.write(command.style.MIGRATE_HEADING(name))
    command.stdout.write(description)


def _tools(command: BaseCommand, tools: list[dict[str, Any]]) -> None:
    for number, tool in enumerate(tools):
        if number:
            command.stdout.write()
        _heading(command, tool["tool"], tool["description"])
        for line in tool["actions"]:
            command.stdout.write(f"  {line}")


def _action(command: BaseCommand, name: str, action: Mapping[str, Any]) -> None:
    _heading(command, name, action["description"])
    _fields(command, action["properties"], action["required"], action.get("defaults", {}))
    _rest(command, {key: value for key, value in action.items() if key not in _TOLD})


def _fields(
    command: BaseCommand, properties: Mapping[str, Any], required: list[str], defaults: Mapping[str, Any]
) -> None:
    """A table of the fields: which are needed, and which values each takes."""
    rows = []
    for name, schema in properties.items():
        needed = "yes" if name in required else "no"
        if name in defaults:
            needed += f", default {_json(defaults[name])}"
        rows.append([name, needed, _json(schema)])
    if rows:
        common.table(command, ["field", "required", "values"], rows)


def _rest(command: BaseCommand, members: Mapping[str, Any]) -> None:
    for key, value in members.items():
        command.stdout.write(f"{key}: {value if isinstance(value, str) else _json(value)}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


SUBCOMMAND = Subcommand("show", "Show what help tells of a tool or an action.", add_arguments, run)
