"""From the bytes of one message to its value, within the limits of a server; the same for every transport."""

from __future__ import annotations

from typing import Any

from django_mcp.conf import ServerSettings
from django_mcp.encoding import codec
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, PARSE_ERROR, ProtocolError


def decoded(body: bytes, settings: ServerSettings) -> Any:
    """The JSON value of a message. Raises ProtocolError."""
    if len(body) > settings.max_body_bytes:
        raise too_large(settings)
    try:
        value = codec.decode(body)
    except codec.DecodeError as error:
        raise ProtocolError(400, PARSE_ERROR, "parse_error", error.message) from None
    limit = settings.max_json_values
    # A value takes a byte at least.
    if len(body) > limit and codec.exceeds_values(body, value, limit):
        text = f"The body holds more than {limit} JSON values; send fewer in a call."
        raise ProtocolError(413, INVALID_REQUEST, "too_many_values", text)
    return value


def too_large(settings: ServerSettings) -> ProtocolError:
    text = f"The body is larger than {settings.max_body_bytes} bytes; send less in a call."
    return ProtocolError(413, INVALID_REQUEST, "too_large", text)
