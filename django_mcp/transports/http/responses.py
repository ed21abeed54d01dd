"""Every way an answer leaves, and the record of every refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.http import HttpRequest, HttpResponse

from django_mcp.protocol import jsonrpc
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, METHOD_NOT_FOUND, NO_ID, Id, ProtocolError, Response

if TYPE_CHECKING:
    from django_mcp.transports.http.checks import Exchange

JSON: Final = "application/json"

#: Refusals that come from no wire check, by who refuses: the only reasons each may give.
REASONS: Final[dict[str, frozenset[str]]] = {
    "view": frozenset({"method_not_allowed", "not_found", "internal_error"}),
    "dispatch": frozenset(
        {
            "internal_error",
            "invalid_cursor",
            "invalid_params",
            "invalid_request_state",
            "method_not_found",
            "misconfigured",
            "missing_capability",
            "unknown_tool",
        }
    ),
}


@dataclass(frozen=True, slots=True)
class Rejection:
    """The mark of a refused request, `request.mcp_rejection`: which check, why, and with which answer."""

    check: str
    reason: str
    status: int
    code: int | None


def reject(
    request: HttpRequest,
    check: str,
    reasons: frozenset[str],
    error: ProtocolError,
    *,
    request_id: Id = NO_ID,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The one way a request is refused: mark it and build the answer.

    A reason outside the check's declared ones is a programming error (LookupError), so that the table stays true.
    """
    body = jsonrpc.error(request_id, error.code, error.message, error.data)
    return mark(request, check, reasons, Response(error.status, body, error.code, error.reason), headers)


def mark(
    request: HttpRequest,
    check: str,
    reasons: frozenset[str],
    response: Response,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    if response.reason not in reasons:
        raise LookupError(f"{check} declares no reason {response.reason!r}.")
    request.mcp_rejection = Rejection(  # type: ignore[attr-defined]  # the mark is this package's
        check, response.reason, response.status, response.code
    )
    return HttpResponse(response.body, status=response.status, content_type=JSON, headers=headers)


def send(request: HttpRequest, response: Response) -> HttpResponse:
    """A server's answer as HTTP; an accepted notification is a 202 without a body."""
    if response.reason is not None:
        return mark(request, "dispatch", REASONS["dispatch"], response)
    return HttpResponse(response.body, status=response.status, content_type=JSON)


def method_not_allowed(request: HttpRequest) -> HttpResponse:
    error = ProtocolError(405, INVALID_REQUEST, "method_not_allowed", "Send JSON-RPC messages by POST.")
    return reject(request, "view", REASONS["view"], error, headers={"Allow": "POST"})


def not_found(request: HttpRequest) -> HttpResponse:
    error = ProtocolError(404, METHOD_NOT_FOUND, "not_found", "There is nothing at this path below the MCP endpoint.")
    return reject(request, "view", REASONS["view"], error)


def internal_error(request: HttpRequest, request_id: Any) -> HttpResponse:
    text = "Internal error; the server's log has it."
    error = ProtocolError(200, jsonrpc.INTERNAL_ERROR, "internal_error", text)
    return reject(request, "view", REASONS["view"], error, request_id=request_id)
