"""`manage.py mcp token create|list|revoke`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from django_mcp.management.subcommands import Subcommand, common
from django_mcp.tokens.models import NAME_LENGTH, Token

_COLUMNS = ("id", "user", "name", "created", "expires", "last_used")
#: A hundred years. A date beyond the calendar's end could not be stored.
_DAYS = 36_500


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    create = actions.add_parser("create", help="Make a token and print it, this once.")
    create.add_argument("user", help="Username of whom the token stands for.")
    create.add_argument("--name", default="", help="What the token is for.")
    create.add_argument("--expires-days", type=int, help="Days until it expires; without, it never does.")
    common.add_json(create)
    listing = actions.add_parser("list", help="List the tokens.")
    listing.add_argument("--user", help="Only those of this username.")
    common.add_json(listing)
    revoke = actions.add_parser("revoke", help="Delete a token.")
    revoke.add_argument("id", type=int, help="Its id, as list shows it.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    _ACTIONS[options["action"]](command, options)


def _create(command: BaseCommand, options: dict[str, Any]) -> None:
    if len(options["name"]) > NAME_LENGTH:
        raise CommandError(f"--name must have at most {NAME_LENGTH} characters.")
    expires = None
    if (days := options["expires_days"]) is not None:
        if not 1 <= days <= _DAYS:
            raise CommandError(f"--expires-days must be from 1 to {_DAYS}.")
        expires = timezone.now() + timedelta(days=days)
    token, secret = Token.objects.issue(common.user(options["user"]), options["name"], expires)
    command.stdout.write(json.dumps({**_row(token), "token": secret}) if options["json"] else secret)


def _list(command: BaseCommand, options: dict[str, Any]) -> None:
    tokens = Token.objects.select_related("user")
    if options["user"] is not None:
        tokens = tokens.filter(user=common.user(options["user"]))
    rows = [_row(token) for token in tokens]
    if options["json"]:
        command.stdout.write(json.dumps(rows))
        return
    shown = [[str(row[column] or "-") for column in _COLUMNS] for row in rows]
    common.table(command, list(_COLUMNS), shown)


def _row(token: Token) -> dict[str, Any]:
    times = (token.created, token.expires, token.last_used)
    shown = [time and time.isoformat(timespec="seconds") for time in times]
    return dict(zip(_COLUMNS, (token.pk, token.user.get_username(), token.name, *shown), strict=True))


def _revoke(command: BaseCommand, options: dict[str, Any]) -> None:
    deleted, _ = Token.objects.filter(pk=options["id"]).delete()
    if not deleted:
        raise CommandError(f"There is no token {options['id']}.")
    command.stdout.write(f"Token {options['id']} is revoked.")


_ACTIONS = {"create": _create, "list": _list, "revoke": _revoke}

SUBCOMMAND = Subcommand("token", "Make, list and revoke bearer tokens.", add_arguments, run)
