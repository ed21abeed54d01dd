from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError, CommandParser

from django_mcp.management.subcommands import Subcommand


class Command(BaseCommand):
    help = "Looks after the MCP servers of this site."
    #: `mcp check` is there to say what is wrong, so nothing is checked before it.
    requires_system_checks = []  # noqa: RUF012 (Django's own declaration)

    def add_arguments(self, parser: CommandParser) -> None:
        subparsers = parser.add_subparsers(dest="subcommand", required=True, metavar="subcommand")
        for module, app in _MODULES.items():
            if not apps.is_installed(app):
                _add_missing(subparsers, module, app)
                continue
            subcommand: Subcommand = import_module(f"django_mcp.management.subcommands.{module}").SUBCOMMAND
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


def _add_missing(subparsers: Any, name: str, app: str) -> None:
    """A subcommand whose app is not installed says so, whatever it is given."""

    def run(command: BaseCommand, options: dict[str, Any]) -> None:
        raise CommandError(f'mcp {name} needs "{app}" in INSTALLED_APPS.')

    # Nothing is an option, so that none is unknown.
    subparser = subparsers.add_parser(
        name, help=f'Needs "{app}" in INSTALLED_APPS.', prefix_chars="\0", add_help=False
    )
    subparser.add_argument("words", nargs="*")
    subparser.set_defaults(run=run)
