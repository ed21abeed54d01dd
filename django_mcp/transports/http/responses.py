"""Every way an answer leaves, and the record of every refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.http import HttpRequest, HttpResponse

from django_mcp.protocol import jsonrpc
from django_mcp.protocol.jsonrpc import NO_ID, Id, ProtocolError, Response

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Source:
    """Who refuses: the class that sends the signal, its name, and the only reasons it may give."""

    sender: type
    name: str
    reasons: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The mark of a refused request, `request.mcp_rejection`: which check, why, and with which answer.

    `check` and `reason` are machine words, `status` the HTTP status, `code` the JSON-RPC error code.
    """

    check: str
    reason: str
    status: int
    code: int | None
    sender: type = field(repr=False, compare=False)


def reject(
    request: HttpRequest,
    source: Source,
    error: ProtocolError,
    *,
    request_id: Id = NO_ID,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Refuse a request with a JSON-RPC error. Raises LookupError for a reason the source does not declare."""
    body = jsonrpc.error(request_id, error.code, error.message, error.data)
    return send(request, source, Response(error.status, body, error.code, error.reason), headers)


def send(
    request: HttpRequest, source: Source, response: Response, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The one way an answer leaves; a refusal leaves its mark on the request.

    A reason outside the source's declared ones is a programming error, so that its table stays true.
    """
    if response.reason is not None:
        if response.reason not in source.reasons:
            raise LookupError(f"{source.name} declares no reason {response.reason!r}.")
        request.mcp_rejection = Rejection(  # type: ignore[attr-defined]  # the mark is this package's
            source.name, response.reason, response.status, response.code, source.sender
        )
    return HttpResponse(response.body, status=response.status, content_type=JSON, headers=headers)
