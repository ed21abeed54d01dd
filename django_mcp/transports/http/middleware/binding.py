from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from django_mcp.protocol import versions
from django_mcp.protocol.jsonrpc import Message
from django_mcp.schema import bound
from django_mcp.transports.http.checks import Request, WireCheck

_VISIBLE = re.compile(r"[\t -~]*")
_SENTINEL = re.compile(r"=\?base64\?(.*)\?=")

#: The mirrored headers and their META keys.
_VERSION = ("MCP-Protocol-Version", "HTTP_MCP_PROTOCOL_VERSION")
_METHOD = ("Mcp-Method", "HTTP_MCP_METHOD")
_NAME = ("Mcp-Name", "HTTP_MCP_NAME")

_Reader = Callable[[str], str | None]


class HeaderBinding(WireCheck):
    """The headers that mirror the body say what the body says (MCP transports, mirrored headers).

    A modern request must carry them; a legacy one need not, but what it carries must match.
    """

    name = "binding"
    reasons = frozenset({"header_mismatch"})

    def check(self, request: Request) -> None:
        sent = request.mcp.message
        if not sent.is_request:
            return
        meta = request.META
        if not sent.legacy:
            _compare(meta, sent, _VERSION, sent.meta[versions.PROTOCOL_VERSION], plain)
        _compare(meta, sent, _METHOD, sent.method, plain)
        named = versions.NAMED.get(sent.method)
        if named is not None:
            _compare(meta, sent, _NAME, sent.params.get(named), decoded)


def _compare(
    meta: Mapping[str, Any], sent: Message, mirrored: tuple[str, str], body: Any, read: _Reader
) -> None:
    header, key = mirrored
    value = meta.get(key)
    if value is None:
        if not sent.legacy:
            text = f"The header {header} is missing; it must be {bound.render(body)!r}."
            raise versions.mismatch(sent, text)
        return
    said = read(value)
    if said is None:
        raise versions.mismatch(sent, f"The header {header} is malformed: {bound.echo(value)!r}.")
    if said != body:
        text = f"The header {header} is {bound.echo(said)!r} but the body says {bound.render(body)!r}."
        raise versions.mismatch(sent, text)


# The same few names come with every request.
@lru_cache(maxsize=256)
def plain(value: str) -> str | None:
    """A header value without surrounding whitespace, or None for characters a header must not hold."""
    text = value.strip(" \t")
    return text if _VISIBLE.fullmatch(text) else None


@lru_cache(maxsize=256)
def decoded(value: str) -> str | None:
    """A header value that may be wrapped in the base64 sentinel, or None where it is malformed."""
    text = plain(value)
    wrapped = None if text is None else _SENTINEL.fullmatch(text)
    if wrapped is None:
        return text
    payload = wrapped[1]
    try:
        raw = base64.b64decode(payload, validate=True)
        # Decoding forgives stray bits at the end; only the canonical form is taken.
        return raw.decode() if base64.b64encode(raw).decode() == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None
