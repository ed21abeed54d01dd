from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core import checks
from django.core.management import call_command
from django.core.management.base import BaseCommand

from django_mcp.management.subcommands import Subcommand, common

#: Level of a message to its name, from the worst on.
_LEVELS = {
    checks.CRITICAL: "critical",
    checks.ERROR: "error",
    checks.WARNING: "warning",
    checks.INFO: "info",
    checks.DEBUG: "debug",
}
_TAG = "django_mcp"


def add_arguments(parser: ArgumentParser) -> None:
    common.add_json(parser)
    parser.add_argument("--deploy", action="store_true", help="Check for a deployment, too.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """The system checks of this app alone, as `manage.py check` shows them. An error is exit code 1."""
    if not options["json"]:
        call_command(
            "check", tags=[_TAG], deploy=options["deploy"], stdout=command.stdout, stderr=command.stderr
        )
        return
    found = checks.run_checks(tags=[_TAG], include_deployment_checks=options["deploy"])
    messages = [message for message in found if not message.is_silenced()]
    command.stdout.write(json.dumps([_row(message) for message in messages], ensure_ascii=False))
    if any(message.is_serious() for message in messages):
        raise SystemExit(1)


def _row(message: checks.CheckMessage) -> dict[str, Any]:
    return {
        "id": message.id,
        "level": _LEVELS[message.level],
        "object": None if message.obj is None else str(message.obj),
        "message": message.msg,
        "hint": message.hint,
    }


SUBCOMMAND = Subcommand("check", "Check the tools and settings.", add_arguments, run)
