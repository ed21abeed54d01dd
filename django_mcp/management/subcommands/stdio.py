from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from typing import Any, NoReturn

from django.core.management.base import BaseCommand

from django_mcp import conf
from django_mcp.management.subcommands import Subcommand, common
from django_mcp.server import get_server
from django_mcp.transports import stdio


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    parser.add_argument("--tag", action="append", help="Serve only tools with this tag. May be repeated.")
    parser.add_argument("--include", action="append", help="Serve only tools that match this pattern.")
    parser.add_argument("--exclude", action="append", help="Leave out tools that match this pattern.")
    parser.add_argument("--user", help="Username of whom to serve; without, nobody.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """Serve one client over standard input and output, until it closes them."""
    write = stdio.divert()
    common.catalog(options)
    filters = {"tags": options["tag"], "include": options["include"], "exclude": options["exclude"]}
    conf.narrow(options["server"], {key: tuple(value) for key, value in filters.items() if value is not None})
    common.catalog(options)
    identity = None if options["user"] is None else common.user(options["user"])
    session = stdio.Session(get_server(options["server"]), write, identity)
    # Ended from outside, it ends like at the end of its input.
    signal.signal(signal.SIGTERM, _leave)
    try:
        session.serve(sys.stdin.buffer)
    except KeyboardInterrupt:
        session.close()


def _leave(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


SUBCOMMAND = Subcommand("stdio", "Serve one client over standard input and output.", add_arguments, run)
