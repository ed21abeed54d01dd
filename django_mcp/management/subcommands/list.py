from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from django_mcp.authoring import declare
from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise
from django_mcp.management.subcommands import Subcommand, common

#: A rule of thumb for English text and JSON.
_BYTES_PER_TOKEN = 4


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    common.add_json(parser)


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """Every tool of a server, whoever may see it, with what it costs in a listing."""
    catalog = common.catalog(options)
    rows: list[dict[str, Any]] = []
    for registration in catalog.registrations:
        size = len(codec.encode(normalise(catalog.whole.definition(registration))))
        rows.append(
            {
                "tool": registration.name,
                "actions": list(registration.actions),
                "bytes": size,
                "tokens": size // _BYTES_PER_TOKEN,
            }
        )
    if options["json"]:
        command.stdout.write(json.dumps(rows))
        return
    shown = [
        [row["tool"], str(row["bytes"]), str(row["tokens"]), ", ".join(row["actions"]) or "-"] for row in rows
    ]
    common.table(command, ["tool", "bytes", "~tokens", "actions"], shown, numbers=("bytes", "~tokens"))
    total = sum(row["bytes"] for row in rows)
    command.stdout.write(f"{len(rows)} tools, {total} bytes, about {total // _BYTES_PER_TOKEN} tokens a list")
    if not declare.declarations():
        command.stdout.write(
            "No tool of this site is registered. They are found in the mcp.py of every app in INSTALLED_APPS."
        )


SUBCOMMAND = Subcommand("list", "List the tools of a server and their sizes.", add_arguments, run)
