"""`manage.py mcp token create|list|revoke`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from django_mcp.management.subcommands import Subcommand, common
from django_mcp.tokens.models import Token


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    create = actions.add_parser("create", help="Make a token and print it, this once.")
    create.add_argument("user", help="Username of whom the token stands for.")
    create.add_argument("--name", default="", help="What the token is for.")
    create.add_argument("--days", type=int, help="Days until it expires; without, it never does.")
    listing = actions.add_parser("list", help="List the tokens.")
    listing.add_argument("--user", help="Only those of this username.")
    common.add_json(listing)
    revoke = actions.add_parser("revoke", help="Delete a token.")
    revoke.add_argument("id", type=int, help="Its id, as list shows it.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    _ACTIONS[options["action"]](command, options)


def _create(command: BaseCommand, options: dict[str, Any]) -> None:
    expires = None
    if options["days"] is not None:
        if options["days"] < 1:
            raise CommandError("--days must be at least 1.")
        expires = timezone.now() + timedelta(days=options["days"])
    _, secret = Token.objects.issue(common.user(options["user"]), options["name"], expires)
    command.stdout.write(secret)


def _list(command: BaseCommand, options: dict[str, Any]) -> None:
    tokens = Token.objects.select_related("user")
    if options["user"] is not None:
        tokens = tokens.filter(user=common.user(options["user"]))
    rows = [
        {
            "id": token.pk,
            "user": token.user.get_username(),
            "name": token.name,
            "created": token.created.isoformat(),
            "expires": token.expires and token.expires.isoformat(),
            "last_used": token.last_used and token.last_used.isoformat(),
        }
        for token in tokens
    ]
    if options["json"]:
        command.stdout.write(json.dumps(rows))
        return
    for row in rows:
        command.stdout.write("\t".join(str(value or "-") for value in row.values()))


def _revoke(command: BaseCommand, options: dict[str, Any]) -> None:
    deleted, _ = Token.objects.filter(pk=options["id"]).delete()
    if not deleted:
        raise CommandError(f"There is no token {options['id']}.")
    command.stdout.write(f"Token {options['id']} is revoked.")


_ACTIONS = {"create": _create, "list": _list, "revoke": _revoke}

SUBCOMMAND = Subcommand("token", "Make, list and revoke bearer tokens.", add_arguments, run)
