from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from django_mcp.management.subcommands import Subcommand


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--deploy", action="store_true", help="Check for a deployment, too.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """The system checks of this app alone, as `manage.py check` shows them."""
    call_command(
        "check", tags=["django_mcp"], deploy=options["deploy"], stdout=command.stdout, stderr=command.stderr
    )


SUBCOMMAND = Subcommand("check", "Check the tools and settings.", add_arguments, run)
