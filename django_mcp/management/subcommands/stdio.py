from __future__ import annotations

import logging
import os
import signal
from argparse import ArgumentParser
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError

from django_mcp import conf
from django_mcp.management.subcommands import Subcommand, common
from django_mcp.registry import filters
from django_mcp.server import get_server
from django_mcp.transports import stdio, streams


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    parser.add_argument("--tag", action="append", help="Serve only tools with this tag. May be repeated.")
    parser.add_argument("--include", action="append", help="Serve only tools that match this pattern.")
    parser.add_argument("--exclude", action="append", help="Leave out tools that match this pattern.")
    parser.add_argument("--user", help="Username of whom to serve; without, nobody.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """Serve one client over standard input and output, until it closes them."""
    kept = streams.keep()
    _narrow(options)
    identify = None
    if options["user"] is not None:
        identify = partial(common.caller, options["user"])
        identify()
    if kept.lines.isatty():
        command.stderr.write(
            "Waiting for messages of an MCP client, which starts this command itself; "
            "manage.py mcp client-config prints how. Ctrl-D ends it.",
            str,
        )
    session = stdio.Session(get_server(options["server"]), kept.write, identify)
    # Ended from outside, it ends like at the end of its input; at once, if it is told while it ends.
    signal.signal(signal.SIGTERM, _leave)
    ended = False
    try:
        try:
            session.serve(kept.lines)
        finally:
            ended = session.close()
    except KeyboardInterrupt:
        pass
    if not ended:
        # Nothing stops a thread, and Python waits for those that are left.
        logging.shutdown()
        os._exit(0)


def _narrow(options: dict[str, Any]) -> None:
    """Serve fewer tools than the settings say. A filter that names nothing is a CommandError."""
    server = options["server"]
    own = common.own_tools(common.catalog(options))
    asked = {"tags": options["tag"], "include": options["include"], "exclude": options["exclude"]}
    if any(asked.values()):
        wanted = replace(conf.get().server(server), **asked)
        offences = [f"{offence.message} {offence.fix}" for offence in filters.offences(own, wanted)]
        if offences:
            raise CommandError("\n".join(offences))
        names = tuple(registration.name for registration in filters.select(own, wanted))
        conf.narrow(server, names)


def _leave(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


SUBCOMMAND = Subcommand("stdio", "Serve one client over standard input and output.", add_arguments, run)
