from __future__ import annotations

import json
import os
import shlex
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from django_mcp.management.subcommands import Subcommand
from django_mcp.management.subcommands.common import add_server
from django_mcp.transports.http import mount

#: Clients that take a document, and where servers stand in it.
_DOCUMENTS = {"claude-desktop": "mcpServers", "cursor": "mcpServers", "vscode": "servers"}
#: Clients that take a command, for a server reached by URL and for one that is started.
_COMMANDS = {
    "claude": ("claude mcp add --transport http {name} {url}", "claude mcp add {name} -- {command}"),
    "inspector": (
        "npx @modelcontextprotocol/inspector --transport http --server-url {url}",
        "npx @modelcontextprotocol/inspector -- {command}",
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("client", choices=sorted([*_DOCUMENTS, *_COMMANDS]))
    parser.add_argument("--url", help="Where the site serves MCP, if not where runserver does.")
    parser.add_argument("--name", help="What the client calls the site.")
    parser.add_argument(
        "--stdio", action="store_true", help="Let the client start the server; Claude Desktop always does."
    )
    add_server(parser)
    parser.add_argument("--user", help="With --stdio: username of whom to serve.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """What to paste into a client."""
    client, server = options["client"], options["server"]
    name = options["name"] or ("django" if server == "default" else f"django-{server}")
    started = options["stdio"] or client == "claude-desktop"
    url = "" if started else options["url"] or _url(server)
    if client in _COMMANDS:
        words = {"name": [name], "url": [url], "command": _command(options)}
        quoted = {key: shlex.join(value) for key, value in words.items()}
        command.stdout.write(_COMMANDS[client][started].format(**quoted))
    else:
        entry: dict[str, Any] = {"url": url}
        if started:
            program, *arguments = _command(options)
            entry = {"command": program, "args": arguments}
        if client == "vscode":
            entry = {"type": "stdio" if started else "http", **entry}
        command.stdout.write(json.dumps({_DOCUMENTS[client]: {name: entry}}, indent=2, ensure_ascii=False))


def _url(server: str) -> str:
    """Where runserver serves it."""
    path = mount.address(server)
    if path is None:
        raise CommandError(
            f"No URL of this site leads to the server {server!r}. Mount django_mcp.urls in urls.py, say "
            "where it is by --url, or let the client start it by --stdio."
        )
    return f"http://127.0.0.1:8000{path}"


def _command(options: dict[str, Any]) -> list[str]:
    """What starts the server from anywhere: this interpreter, this manage.py, these settings."""
    script = Path(sys.argv[0]).resolve()
    started, path = [str(script)], []
    if script.name == "__main__.py" or script.stem == "django-admin":
        # Django's own command finds the settings from the folder it is started in.
        started, path = ["-m", "django"], ["--pythonpath", str(Path.cwd())]
    # As options and not in the environment: clients differ in how a variable is told.
    settings = ["--settings", os.environ["DJANGO_SETTINGS_MODULE"]]
    asked = [] if options["server"] == "default" else ["--server", options["server"]]
    if options["user"] is not None:
        asked += ["--user", options["user"]]
    return [sys.executable, *started, "mcp", *path, *settings, "stdio", *asked]


SUBCOMMAND = Subcommand("client-config", "Print configuration to paste into a client.", add_arguments, run)
