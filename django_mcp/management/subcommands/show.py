from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from django_mcp.management.subcommands import Subcommand, common
from django_mcp.management.subcommands.call import answer, pretty


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    parser.add_argument("tool", nargs="?")
    parser.add_argument("action", nargs="?")
    parser.add_argument("--user", help="Username of whom to show it to; without, nobody.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """What the help tool tells a client, as JSON."""
    common.catalog(options)
    target = {key: options[key] for key in ("tool", "action") if options[key] is not None}
    result = answer(options, "help", target)
    text = pretty(result["content"][0]["text"])
    if result["isError"]:
        raise CommandError(text)
    command.stdout.write(text)


SUBCOMMAND = Subcommand("show", "Show what help tells of a tool or an action.", add_arguments, run)
