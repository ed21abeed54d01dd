"""What several subcommands share."""

from __future__ import annotations

from argparse import ArgumentParser
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
    """The user of a name. Raises CommandError where there is none, or none that may log in."""
    model = get_user_model()
    try:
        found = model._default_manager.get_by_natural_key(username)
    except model.DoesNotExist:
        raise CommandError(f"There is no user {username!r}.") from None
    if not found.is_active:
        raise CommandError(f"The user {username!r} is not active.")
    return found


def table(command: BaseCommand, header: list[str], rows: list[list[str]]) -> None:
    """Aligned columns, the header in colour on a terminal."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    shown = "  ".join(cell.ljust(width) for cell, width in zip(header, widths, strict=True))
    command.stdout.write(command.style.MIGRATE_HEADING(shown.rstrip()))
    for line in lines:
        command.stdout.write(line.rstrip())
