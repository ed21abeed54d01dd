"""How results look: the modern shape with its stamps, and the legacy one without them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django_mcp.conf import ServerSettings
from django_mcp.dispatch.answer import UNSET, CallResult
from django_mcp.encoding import codec
from django_mcp.protocol.jsonrpc import Message
from django_mcp.protocol.versions import MODERN, SERVER_INFO

#: A client of an earlier revision refuses a result with a `resource_link` block.
_LINKS_SINCE = "2025-06-18"

_SERVER_INFO_KEYS = (("title", "title"), ("description", "description"), ("website_url", "websiteUrl"))
_ICON_KEYS = (("src", "src"), ("mime_type", "mimeType"), ("sizes", "sizes"), ("theme", "theme"))


def server_info(settings: ServerSettings) -> dict[str, Any]:
    """The server's identity (MCP `Implementation`)."""
    stated = settings.server_info
    info: dict[str, Any] = {"name": settings.name, "version": settings.version}
    info.update({wire: stated[key] for key, wire in _SERVER_INFO_KEYS if key in stated})
    if stated.get("icons"):
        info["icons"] = [_icon(icon) for icon in stated["icons"]]
    return info


def _icon(icon: Mapping[str, Any]) -> dict[str, Any]:
    return {wire: list(icon[key]) if key == "sizes" else icon[key] for key, wire in _ICON_KEYS if key in icon}


@lru_cache(maxsize=64)
def _stamp(settings: ServerSettings) -> bytes:
    """The member of every modern result's `_meta`, encoded once for each reading of the settings."""
    return codec.encode({SERVER_INFO: server_info(settings)})[1:-1]


def _result(settings: ServerSettings, kind: bytes, members: Mapping[str, Any]) -> bytes:
    """A modern result of a kind."""
    encoded = codec.encode(members)[1:-1] + b"," if members else b""
    return b'{"resultType":"%b",%b"_meta":{%b}}' % (kind, encoded, _stamp(settings))


def complete(settings: ServerSettings, members: Mapping[str, Any]) -> bytes:
    """A finished modern result: `resultType`, its members, and `serverInfo` in its `_meta`."""
    return _result(settings, b"complete", members)


def cacheable(settings: ServerSettings, members: Mapping[str, Any]) -> bytes:
    """A finished modern result that a client may keep for a while."""
    hints = {"ttlMs": settings.cache_ttl_ms, "cacheScope": settings.cache_scope}
    return complete(settings, {**members, **hints})


def input_required(settings: ServerSettings, requests: Mapping[str, Any], state: str) -> bytes:
    """A modern result that asks for input first (MCP `InputRequiredResult`)."""
    members = {"inputRequests": dict(requests), "requestState": state}
    return _result(settings, b"input_required", members)


def task(settings: ServerSettings, members: Mapping[str, Any]) -> bytes:
    """A modern result that names a task in the place of an answer (MCP tasks, `CreateTaskResult`)."""
    return _result(settings, b"task", members)


def called(settings: ServerSettings, result: CallResult, message: Message) -> bytes:
    """A tool's answer as the message's revision has it."""
    if message.legacy:
        return codec.encode(call_result(result, message.version))
    content, structured = codec.encode(result.content), b""
    if result.structured is not UNSET:
        # What the text is made of is often the structured content as well, and is encoded already.
        structured = b'"structuredContent":%b,' % (result.encoded or codec.encode(result.structured))
    is_error = b"true" if result.is_error else b"false"
    return b'{"resultType":"complete","content":%b,%b"isError":%b,"_meta":{%b%b}}' % (
        content,
        structured,
        is_error,
        codec.encode(result.meta)[1:-1] + b"," if result.meta else b"",
        _stamp(settings),
    )


def call_result(result: CallResult, version: str) -> dict[str, Any]:
    """The members of a tool's answer as a revision has them (MCP `CallToolResult`)."""
    content = result.content
    if version < _LINKS_SINCE:
        content = [_link_as_text(block) if block["type"] == "resource_link" else block for block in content]
    members: dict[str, Any] = {"content": content}
    # Before 2026-07-28 structured content was an object and nothing else.
    if result.structured is not UNSET and (isinstance(result.structured, dict) or version == MODERN):
        members["structuredContent"] = result.structured
    members["isError"] = result.is_error
    if result.meta:
        members["_meta"] = result.meta
    return members


def _link_as_text(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": f"{block['name']}: {block['uri']}"}


def tool_definition(definition: dict[str, Any], *, legacy: bool) -> dict[str, Any]:
    """A tool as listed; a legacy client knows only object outputs."""
    schema = definition.get("outputSchema")
    if legacy and schema is not None and schema.get("type") != "object":
        return {key: value for key, value in definition.items() if key != "outputSchema"}
    return definition
