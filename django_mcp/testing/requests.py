"""Messages as clients build them, and the headers that mirror them."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from django_mcp.conf.table import LEGACY_VERSIONS
from django_mcp.encoding import codec
from django_mcp.protocol.versions import CLIENT_CAPABILITIES, MODERN, NAMED, PROTOCOL_VERSION
from django_mcp.server import get_server

#: Goes into a header as it is: visible ASCII without spaces at its ends.
_PLAIN = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_SENTINEL = "=?base64?{}?="


def is_legacy(version: str) -> bool:
    """Whether a protocol revision is one from before 2026-07-28."""
    return version in LEGACY_VERSIONS


def build_request(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: str | int = 1,
    version: str = MODERN,
    capabilities: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A JSON-RPC request that the endpoint serves, with the protocol fields its revision asks for.

    `capabilities` are the client's; `meta` is what else `_meta` holds.
    """
    fields = dict(meta or {})
    if not is_legacy(version):
        fields = {PROTOCOL_VERSION: version, CLIENT_CAPABILITIES: dict(capabilities or {}), **fields}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method, "params": dict(params or {})}
    if fields:
        body["params"]["_meta"] = fields
    return body


def build_call(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    action: str | None = None,
    data: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """A `tools/call` request: of an action with its data, or with the arguments as they are.

    `options` are those of `build_request`.
    """
    return build_request("tools/call", call_params(tool, arguments, action, data), **options)


def call_params(
    tool: str, arguments: Mapping[str, Any] | None, action: str | None, data: Mapping[str, Any] | None
) -> dict[str, Any]:
    if action is None and data is None:
        return {"name": tool, "arguments": dict(arguments or {})}
    if arguments is not None:
        raise TypeError("Give either arguments, or action and data.")
    parts = {"action": action, "data": data}
    return {"name": tool, "arguments": {name: part for name, part in parts.items() if part is not None}}


def mirrored_headers(
    body: Mapping[str, Any], *, server: str = "default", version: str | None = None
) -> dict[str, str]:
    """The headers that a request has to come with (MCP transports, mirrored headers).

    Those of `x-mcp-header` arguments are read from the tool, which `server` serves. `version` is the protocol
    revision of a body that does not say it, which is one from before 2026-07-28.
    """
    params = body.get("params", {})
    stated = params.get("_meta", {}).get(PROTOCOL_VERSION, version)
    headers = {} if stated is None else {"MCP-Protocol-Version": stated}
    if PROTOCOL_VERSION not in params.get("_meta", {}):
        return headers
    headers["Mcp-Method"] = body["method"]
    if body["method"] in NAMED:
        headers["Mcp-Name"] = header_value(params[NAMED[body["method"]]])
    if body["method"] == "tools/call":
        registration = get_server(server).catalog.by_name.get(params["name"])
        for row in () if registration is None else registration.header_rows:
            argument = _argument(params.get("arguments"), row.path)
            if argument is not None:
                headers[row.header] = header_value(argument)
    return headers


def _argument(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        arguments = arguments.get(step) if isinstance(arguments, dict) else None
    return arguments


def header_value(value: Any) -> str:
    """A value as a header carries it: text that is no plain header is wrapped in the base64 sentinel."""
    text = value if isinstance(value, str) else codec.text(value)
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return _SENTINEL.format(base64.b64encode(text.encode()).decode())
