from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from django.http import HttpRequest

from django_mcp.protocol import versions
from django_mcp.protocol.jsonrpc import Message
from django_mcp.schema import bound
from django_mcp.transports.http.checks import WireCheck, message

_VISIBLE = re.compile(r"[\t -~]*")
_SENTINEL = re.compile(r"=\?base64\?(.*)\?=")

#: The mirrored headers and their META keys.
_VERSION = ("MCP-Protocol-Version", "HTTP_MCP_PROTOCOL_VERSION")
_METHOD = ("Mcp-Method", "HTTP_MCP_METHOD")
_NAME = ("Mcp-Name", "HTTP_MCP_NAME")


class HeaderBinding(WireCheck):
    """The headers that mirror the body say what the body says (MCP transports, mirrored headers).

    A modern request must carry them; a legacy one need not, but what it carries must match.
    """

    name = "binding"
    reasons = frozenset({"header_mismatch"})

    def check(self, request: HttpRequest) -> None:
        sent = message(request)
        if not sent.is_request:
            return
        if not sent.legacy:
            self._compare(request, sent, _VERSION, sent.meta[versions.PROTOCOL_VERSION])
        self._compare(request, sent, _METHOD, sent.method)
        named = versions.NAMED.get(sent.method)
        if named is not None:
            self._compare(request, sent, _NAME, sent.params.get(named), decode=True)

    @staticmethod
    def _compare(
        request: HttpRequest, sent: Message, mirrored: tuple[str, str], body: Any, *, decode: bool = False
    ) -> None:
        header, key = mirrored
        value = request.META.get(key)
        if value is None:
            if not sent.legacy:
                text = f"The header {header} is missing; it must be {bound.render(body)!r}."
                raise versions.mismatch(sent, text)
            return
        said = decoded(value) if decode else plain(value)
        if said is None:
            raise versions.mismatch(sent, f"The header {header} is malformed: {bound.echo(value)!r}.")
        if said != body:
            text = f"The header {header} is {bound.echo(said)!r} but the body says {bound.render(body)!r}."
            raise versions.mismatch(sent, text)


def plain(value: str) -> str | None:
    """A header value without surrounding whitespace, or None for characters a header must not hold."""
    text = value.strip(" \t")
    return text if _VISIBLE.fullmatch(text) else None


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
