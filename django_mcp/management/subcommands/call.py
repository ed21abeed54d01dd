from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from django_mcp.authoring.context import Context
from django_mcp.encoding import codec
from django_mcp.management.subcommands import Subcommand, common
from django_mcp.protocol import versions
from django_mcp.protocol.jsonrpc import Message
from django_mcp.server import get_server


def add_arguments(parser: ArgumentParser) -> None:
    common.add_server(parser)
    common.add_json(parser)
    parser.add_argument("tool")
    parser.add_argument("action", nargs="?", help="For a tool of actions.")
    parser.add_argument("--data", default="{}", help="Data of the action, or the arguments; - reads it.")
    parser.add_argument("--user", help="Username of whom to call as; without, nobody.")


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    """Call a tool as a client would: the same gates, the same answer. An error is exit code 1."""
    common.catalog(options)
    data = _json(sys.stdin.read() if options["data"] == "-" else options["data"])
    arguments = data
    if options["action"] is not None:
        arguments = {"action": options["action"], "data": data}
    result = answer(options, options["tool"], arguments)
    is_error = result.get("isError", False)
    if options["json"]:
        command.stdout.write(json.dumps(result, ensure_ascii=False))
    else:
        command.stdout.write(_shown(result), command.style.ERROR if is_error else None)
    if is_error:
        raise SystemExit(1)


def answer(options: dict[str, Any], tool: str, arguments: Any) -> dict[str, Any]:
    """The result of a call as it goes over the wire. A protocol error is a CommandError."""
    meta = {versions.PROTOCOL_VERSION: versions.MODERN, versions.CLIENT_CAPABILITIES: {}}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = Message(True, 1, "tools/call", params)
    message.version, message.meta = versions.MODERN, meta
    identity = None if options.get("user") is None else common.caller(options["user"])
    response = get_server(options["server"]).handle(message, Context(identity=identity))
    envelope = codec.decode(response.body)
    if "error" in envelope:
        raise CommandError(envelope["error"]["message"])
    result: dict[str, Any] = envelope["result"]
    return result


def _json(text: str) -> Any:
    try:
        return codec.decode(text.encode())
    except codec.DecodeError as error:
        raise CommandError(f"--data is no JSON: {error.message}") from None


def _shown(result: dict[str, Any]) -> str:
    """The blocks of an answer, JSON indented."""
    return "\n".join(
        pretty(block["text"] if block["type"] == "text" else codec.text(block)) for block in result["content"]
    )


def pretty(text: str) -> str:
    try:
        return json.dumps(codec.decode(text.encode()), indent=2, ensure_ascii=False)
    except codec.DecodeError:
        return text


SUBCOMMAND = Subcommand("call", "Call a tool as a client would.", add_arguments, run)
