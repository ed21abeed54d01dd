from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from django_mcp import conf
from django_mcp.management.subcommands import Subcommand, common
from django_mcp.policy.breaker import BreakerLink
from django_mcp.policy.chain import Chain
from django_mcp.policy.resolve import matches
from django_mcp.schema import bound


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    common.add_json(parser)
    parser.add_argument("pattern", nargs="?", default="*", help="Of tools or tool.action, as in POLICIES.")
    parser.add_argument("--reset", action="store_true", help="Close the shared ones that are shown.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """The circuit breakers of a server. Only shared ones can be seen from outside of their process."""
    breakers = list(_breakers(options))
    if not breakers:
        raise CommandError(f"No tool or action that matches {options['pattern']!r} has a circuit breaker.")
    if options["reset"] and all(breaker.shared is None for breaker in breakers):
        raise CommandError(
            f"Nothing to reset: each process keeps {', '.join(breaker.label for breaker in breakers)} "
            "itself. Only a breaker with shared=True can be reset from here."
        )
    try:
        if options["reset"]:
            for breaker in breakers:
                if breaker.shared is not None:
                    breaker.shared.clear()
        rows = [row for breaker in breakers for row in _rows(breaker)]
    except Exception as raised:
        # Calls do without it; who asks for breakers has to know.
        kind, text = type(raised).__name__, bound.render(raised)
        raise CommandError(f"The cache {conf.get().cache!r} fails ({kind}: {text}).") from raised
    if options["json"]:
        command.stdout.write(json.dumps(rows))
        return
    shown = [
        [
            row["breaker"],
            ", ".join(f"{name}={value}" for name, value in row["axes"].items()) or "-",
            row["state"] or "kept by each process",
            "-" if row["retry_after"] is None else f"{row['retry_after']:.0f} s",
        ]
        for row in rows
    ]
    common.table(command, ["breaker", "axes", "state", "retry after"], shown)


def _breakers(options: dict[str, Any]) -> Iterator[BreakerLink]:
    for registration in common.catalog(options).registrations:
        chains: dict[str | None, Chain | None] = {
            name: entry.chain for name, entry in registration.actions.items()
        }
        chains[None] = registration.chain if registration.typed is None else registration.typed.chain
        for action, chain in chains.items():
            named = matches(options["pattern"], registration.name, action)
            if named and chain is not None and chain.breaker is not None:
                yield chain.breaker


def _rows(breaker: BreakerLink) -> Iterator[dict[str, Any]]:
    reports = [] if breaker.shared is None else breaker.report(breaker.shared)
    if not reports:
        known = None if breaker.shared is None else "closed"
        yield {"breaker": breaker.label, "axes": {}, "state": known, "retry_after": None}
    for axes, state, left in reports:
        yield {"breaker": breaker.label, "axes": dict(axes), "state": state.phase, "retry_after": left}


SUBCOMMAND = Subcommand("breakers", "Show circuit breakers, or reset shared ones.", add_arguments, run)
