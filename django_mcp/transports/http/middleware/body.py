from __future__ import annotations

from functools import lru_cache
from typing import Final

from django.http.request import UnreadablePostError

from django_mcp.conf import ServerSettings
from django_mcp.protocol import reading
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, ProtocolError
from django_mcp.schema import bound
from django_mcp.transports.http.checks import Request, WireCheck

_ACCEPTED: Final = frozenset({"application/json", "application/*", "*/*"})


class Body(WireCheck):
    """The body as JSON: its type, what the client accepts back, its size, and that it decodes."""

    name = "body"
    reasons = frozenset(
        {"content_type", "not_acceptable", "too_large", "too_many_values", "unreadable", "parse_error"}
    )

    def check(self, request: Request) -> None:
        if request.content_type != "application/json":
            sent = bound.echo(request.content_type or "none")
            raise _refusal(415, "content_type", f"The Content-Type must be application/json; it is {sent}.")
        accept = request.META.get("HTTP_ACCEPT") or "*/*"
        if not _accepts_json(accept):
            text = f"The answer is application/json, which Accept does not allow: {bound.echo(accept)}"
            raise _refusal(406, "not_acceptable", text)
        opened = request.mcp
        opened.body = reading.decoded(_read(request, opened.settings), opened.settings)


def _read(request: Request, settings: ServerSettings) -> bytes:
    limit = settings.max_body_bytes
    declared = request.META.get("CONTENT_LENGTH") or ""
    # Python refuses to read integers of thousands of digits.
    if not (declared.isdecimal() and int(declared[:20]) > limit):
        try:
            # Read through the stream, so that DATA_UPLOAD_MAX_MEMORY_SIZE does not apply.
            body: bytes = request.read(limit + 1)
        except UnreadablePostError:
            raise _refusal(400, "unreadable", "The body ended before it was complete.") from None
        if len(body) <= limit:
            return body
    raise reading.too_large(settings)


def _refusal(status: int, reason: str, text: str) -> ProtocolError:
    return ProtocolError(status, INVALID_REQUEST, reason, text)


@lru_cache(maxsize=64)
def _accepts_json(accept: str) -> bool:
    return any(part.split(";")[0].strip().lower() in _ACCEPTED for part in accept.split(","))
