"""Calls whose progress the client wants to hear: answered with JSON, or with a stream once there is any.

The stream is the body of the response: notifications, then the one answer (MCP transports, SSE). Closing it
gives the call up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from asgiref.sync import async_to_sync
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse

from django_mcp.protocol import progress
from django_mcp.protocol.jsonrpc import Message, Response
from django_mcp.transports.calls import Call
from django_mcp.transports.http.channel import Channel
from django_mcp.transports.http.checks import Request, context

EVENT_STREAM: Final = "text/event-stream"

_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_KEEP_ALIVE: Final = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Door:
    """How answers leave: as a response, and the signal of a refusal that comes after a stream began."""

    send: Callable[[Response], HttpResponse]
    announce: Callable[[], None]
    aannounce: Callable[[], Awaitable[None]]


def wanted(request: Request, sent: Message) -> bool:
    """Whether progress is asked for and the client says that it reads streams."""
    if "progressToken" not in sent.meta or not sent.is_request or sent.method != "tools/call":
        return False
    if progress.token(sent) is None:
        return False
    return any(f"{kind.main_type}/{kind.sub_type}" == EVENT_STREAM for kind in request.accepted_types)


def answer(request: Request, door: Door) -> HttpResponse | StreamingHttpResponse:
    """Answer from a thread. Under ASGI only the event loop hears of a client that leaves."""
    if isinstance(request, ASGIRequest):
        return async_to_sync(aanswer)(request, door)
    stream = _Stream(request, door)
    stream.call.start()
    stream.channel.wait()
    return stream.response(request)


async def aanswer(request: Request, door: Door) -> HttpResponse | StreamingHttpResponse:
    """Answer on an event loop. Under WSGI the loop ends with the view, so the call has its own."""
    stream = _Stream(request, door)
    if isinstance(request, ASGIRequest):
        stream.call.start_on_loop()
    else:
        stream.call.start()
    try:
        await stream.channel.await_()
    except asyncio.CancelledError:
        stream.call.cancel()
        raise
    return stream.response(request)


class _Stream:
    """A call and what it sends."""

    def __init__(self, request: Request, door: Door) -> None:
        opened, ctx = request.mcp, context(request)
        self.channel = Channel()
        ctx.notify = self.channel.notify
        self.call = Call(opened.server, opened.message, ctx, self.channel.end)
        self._door = door
        self._keepalive_s = opened.settings.stream_keepalive_s

    def response(self, request: Request) -> HttpResponse | StreamingHttpResponse:
        first = self.channel.taken()
        if not first and self.channel.response is not None:
            return self._door.send(self.channel.response)
        # Compression (GZipMiddleware) would hold events back until there is enough to compress.
        request.META.pop("HTTP_ACCEPT_ENCODING", None)
        body = _AsyncBody(self, first) if isinstance(request, ASGIRequest) else _Body(self, first)
        return StreamingHttpResponse(body, content_type=EVENT_STREAM, headers=_HEADERS)

    def events(self, bodies: list[bytes]) -> Iterator[bytes]:
        try:
            yield from map(_event, bodies)
            while not self.channel.ended:
                self.channel.wait(self._keepalive_s)
                yield from self._news()
            if self._last_is_refused():
                self._door.announce()
            yield from self._last()
        finally:
            self.call.cancel()

    async def aevents(self, bodies: list[bytes]) -> AsyncIterator[bytes]:
        try:
            for event in map(_event, bodies):
                yield event
            while not self.channel.ended:
                await self.channel.await_(self._keepalive_s)
                for event in self._news():
                    yield event
            if self._last_is_refused():
                await self._door.aannounce()
            for event in self._last():
                yield event
        finally:
            self.call.cancel()

    def _news(self) -> list[bytes]:
        bodies = self.channel.taken()
        return [_event(body) for body in bodies] if bodies or self.channel.ended else [_KEEP_ALIVE]

    def _last_is_refused(self) -> bool:
        """Whether the call ends with a refusal, which is marked as any other."""
        response = self.channel.response
        if response is None or response.reason is None:
            return False
        self._door.send(response)
        return True

    def _last(self) -> list[bytes]:
        """What came at the very end, and the answer; a call that was given up has none."""
        bodies = self.channel.taken()
        if self.channel.response is not None:
            bodies.append(self.channel.response.body)
        return [_event(body) for body in bodies]


class _Reading:
    """A stream being read. A reader who leaves gives the call up, and so does one who never comes."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def close(self) -> None:
        self._stream.call.cancel()

    # A response that is dropped on its way through the middleware is closed by nobody.
    __del__ = close


class _Body(_Reading):
    """The body of a response under WSGI."""

    def __init__(self, stream: _Stream, first: list[bytes]) -> None:
        super().__init__(stream)
        self._events = stream.events(first)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        return next(self._events)


class _AsyncBody(_Reading):
    """The body of a response under ASGI."""

    def __init__(self, stream: _Stream, first: list[bytes]) -> None:
        super().__init__(stream)
        self._events = stream.aevents(first)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        return await anext(self._events)


def _event(body: bytes) -> bytes:
    return b"event: message\ndata: " + body + b"\n\n"
