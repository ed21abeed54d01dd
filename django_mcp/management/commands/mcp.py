from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandParser

from django_mcp.management.subcommands import Subcommand


class Command(BaseCommand):
    help = "Looks after the MCP servers of this site."
    #: `mcp check` is there to say what is wrong, so nothing is checked before it.
    requires_system_checks = []  # noqa: RUF012 (Django's own declaration)

    def add_arguments(self, parser: CommandParser) -> None:
        subparsers = parser.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
        for subcommand in _subcommands():
            subparser = subparsers.add_parser(subcommand.name, help=subcommand.help)
            subcommand.add_arguments(subparser)
            subparser.set_defaults(run=subcommand.run)

    def handle(self, *args: Any, **options: Any) -> None:
        options["run"](self, options)


#: Subcommand module to the app that has to be installed for it.
_MODULES = {
    "list": "django_mcp",
    "show": "django_mcp",
    "call": "django_mcp",
    "check": "django_mcp",
    "client_config": "django_mcp",
    "stdio": "django_mcp",
    "breakers": "django_mcp",
    "tasks": "django_mcp",
    "token": "django_mcp.tokens",
}


def _subcommands() -> list[Subcommand]:
    return [
        import_module(f"django_mcp.management.subcommands.{module}").SUBCOMMAND
        for module, app in _MODULES.items()
        if apps.is_installed(app)
    ]
