"""A POST's way: the wire checks in their order, then the server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.module_loading import import_string

from django_mcp import conf, signals
from django_mcp.protocol.jsonrpc import INTERNAL_ERROR, NO_ID, UNREAD, Message, ProtocolError
from django_mcp.schema import bound
from django_mcp.server import Server, server_of
from django_mcp.transports.http import responses, sse
from django_mcp.transports.http.checks import Exchange, Request, context
from django_mcp.transports.http.middleware import DEFAULT
from django_mcp.transports.http.responses import Rejection, Source

logger = logging.getLogger("django_mcp")

Handler = Callable[[HttpRequest], Any]

#: What is refused where a method answers.
DISPATCH: Final = Source(
    Server,
    "dispatch",
    frozenset(
        {
            "internal_error",
            "invalid_cursor",
            "invalid_params",
            "invalid_request_state",
            "method_not_found",
            "misconfigured",
            "missing_capability",
            "unknown_task",
            "unknown_tool",
        }
    ),
)


def run(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a POST from a thread. Never raises."""
    try:
        opened = _open(request, name)
        handler = chain(opened.settings.wire_checks or DEFAULT, is_async=False)
        response: HttpResponse = handler(request)
        # The context knows the request: parted, both are freed at once and not as garbage.
        opened.ctx = None
    except Exception as raised:
        response = _contain(request, raised)
    announce(request, name)
    return response


async def arun(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a POST on an event loop. Never raises."""
    try:
        opened = _open(request, name)
        handler = chain(opened.settings.wire_checks or DEFAULT, is_async=True)
        response: HttpResponse = await handler(request)
        opened.ctx = None
    except Exception as raised:
        response = _contain(request, raised)
    await aannounce(request, name)
    return response


def announce(request: HttpRequest, name: str) -> None:
    """Send the signal of a refusal, if the request carries its mark."""
    if hasattr(request, "mcp_rejection"):
        rejection = request.mcp_rejection
        signals.send(signals.request_rejected, rejection.sender, **_fields(request, name, rejection))


async def aannounce(request: HttpRequest, name: str) -> None:
    """`announce` on an event loop."""
    if hasattr(request, "mcp_rejection"):
        rejection = request.mcp_rejection
        fields = _fields(request, name, rejection)
        await signals.asend(signals.request_rejected, rejection.sender, **fields)


@lru_cache(maxsize=64)
def chain(wire_checks: Iterable[str], *, is_async: bool) -> Handler:
    """The checks around the server, built once for each list."""
    handler: Callable[..., Any] = _adispatch if is_async else _dispatch
    for path in reversed(tuple(wire_checks)):
        handler = import_string(path)(handler)
    return handler


def _open(request: HttpRequest, name: str) -> Exchange:
    settings = conf.get().server(name)
    opened = Exchange(server_of(settings), settings)
    request.mcp = opened  # type: ignore[attr-defined]  # this package's own attribute
    if not hasattr(request, "mcp_assigns"):
        request.mcp_assigns = {}  # type: ignore[attr-defined]  # likewise
    return opened


def _dispatch(request: Request) -> HttpResponse | StreamingHttpResponse:
    opened = request.mcp
    if sse.wanted(request, opened.message):
        return sse.answer(request, _door(request))
    answer = opened.server.handle(opened.message, context(request))
    return responses.send(request, DISPATCH, answer)


async def _adispatch(request: Request) -> HttpResponse | StreamingHttpResponse:
    opened = request.mcp
    if sse.wanted(request, opened.message):
        return await sse.aanswer(request, _door(request))
    answer = await opened.server.ahandle(opened.message, context(request))
    return responses.send(request, DISPATCH, answer)


def _door(request: Request) -> sse.Door:
    name = request.mcp.server.name
    return sse.Door(
        send=partial(responses.send, request, DISPATCH),
        announce=partial(announce, request, name),
        aannounce=partial(aannounce, request, name),
    )


def _contain(request: HttpRequest, raised: Exception) -> HttpResponse:
    logger.error("A request failed inside the wire checks.", exc_info=raised)
    sent = _message(request)
    error = ProtocolError(200, INTERNAL_ERROR, "internal_error", "Internal error; the server's log has it.")
    request_id = sent.id if sent.is_request else NO_ID
    return responses.reject(request, DISPATCH, error, request_id=request_id)


def _message(request: HttpRequest) -> Message:
    """The message, as far as the request got."""
    opened: Exchange | None = getattr(request, "mcp", None)
    return UNREAD if opened is None else opened.message


def _fields(request: HttpRequest, name: str, rejection: Rejection) -> dict[str, Any]:
    sent = _message(request)
    return {
        "server": name,
        "request_id": None if sent.id is NO_ID else sent.id,
        "method": bound.value(sent.method or None),
        "check": rejection.check,
        "reason": rejection.reason,
        "status": rejection.status,
        "code": rejection.code,
    }
