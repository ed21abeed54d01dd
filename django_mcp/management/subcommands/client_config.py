from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from django_mcp.management.subcommands import Subcommand

#: Client to how its configuration names a server reached by URL.
_DOCUMENTS = {
    "cursor": lambda name, url: {"mcpServers": {name: {"url": url}}},
    "vscode": lambda name, url: {"servers": {name: {"type": "http", "url": url}}},
}
_COMMANDS = {
    "claude": "claude mcp add --transport http {name} {url}",
    "inspector": "npx @modelcontextprotocol/inspector --transport http --server-url {url}",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("client", choices=sorted([*_DOCUMENTS, *_COMMANDS]))
    parser.add_argument("--url", default="http://127.0.0.1:8000/mcp", help="Where the site serves MCP.")
    parser.add_argument("--name", default="django", help="What the client calls the site.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """What to paste into a client."""
    client, name, url = options["client"], options["name"], options["url"]
    if client in _COMMANDS:
        command.stdout.write(_COMMANDS[client].format(name=name, url=url))
    else:
        command.stdout.write(json.dumps(_DOCUMENTS[client](name, url), indent=2))


SUBCOMMAND = Subcommand("client-config", "Print configuration to paste into a client.", add_arguments, run)
