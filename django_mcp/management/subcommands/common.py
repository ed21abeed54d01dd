"""What several subcommands share."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from django_mcp.authoring import declare
from django_mcp.authoring.errors import ConfigurationError
from django_mcp.registry.catalog import Catalog
from django_mcp.registry.registration import Registration
from django_mcp.server import get_server


def add_server(parser: ArgumentParser) -> None:
    parser.add_argument("--server", default="default", help="Name of the server, if not the default one.")


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="As JSON, for machines.")


def catalog(options: dict[str, Any]) -> Catalog:
    """What the server serves. A misconfigured or unknown one is a CommandError that says why."""
    try:
        return get_server(options["server"]).catalog
    except ConfigurationError as error:
        raise CommandError(f"{error} (manage.py mcp check shows everything)") from None


def own_tools(catalog: Catalog) -> list[Registration]:
    """The site's tools among those a server serves: what filters are about."""
    builtins = declare.builtins()
    return [registration for registration in catalog.registrations if registration.sender not in builtins]


def user(username: str) -> Any:
    """The user of a name. Raises CommandError where there is none."""
    model = get_user_model()
    try:
        return model._default_manager.get_by_natural_key(username)
    except model.DoesNotExist:
        raise CommandError(f"There is no user {username!r}.") from None


def caller(username: str) -> Any:
    """The user of a name, as one to call as. Raises CommandError for one that may not log in, too."""
    found = user(username)
    if not found.is_active:
        raise CommandError(f"The user {username!r} is not active.")
    return found


def table(
    command: BaseCommand, header: list[str], rows: list[list[str]], numbers: Collection[str] = ()
) -> None:
    """Aligned columns, those of numbers to the right; on a terminal in colour, the last within its width."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: list[str]) -> str:
        aligned = [
            cell.rjust(width) if name in numbers else cell.ljust(width)
            for cell, width, name in zip(cells, widths, header, strict=True)
        ]
        return "  ".join(aligned).rstrip()

    room = None
    if command.stdout.isatty():
        room = max(20, get_terminal_size().columns - sum(widths[:-1]) - 2 * len(widths[:-1]))
    command.stdout.write(command.style.MIGRATE_HEADING(line(header)))
    for *cells, last in rows:
        parts = [last] if room is None else wrap(last, room) or [""]
        command.stdout.write(line([*cells, parts[0]]))
        for part in parts[1:]:
            command.stdout.write(line([*[""] * len(cells), part]))
