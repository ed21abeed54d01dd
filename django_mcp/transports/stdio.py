"""MCP over standard input and output: one JSON-RPC message a line (MCP transports, stdio).

A client starts the process and is its only caller. What it sends first decides the era for good: `_meta` of
2026-07-28, or the handshake of the revisions before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Any, Final

from django.db import close_old_connections
from django.utils.functional import SimpleLazyObject

from django_mcp import signals
from django_mcp.authoring.context import Context
from django_mcp.protocol import jsonrpc, reading, versions
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, NO_ID, Message, ProtocolError, Response
from django_mcp.schema import bound
from django_mcp.server import Server
from django_mcp.transports.calls import Call

#: Calls that run at once, each with a thread and database connections of its own; more wait for their turn.
AT_ONCE: Final = 32
#: Seconds that calls which are given up at the end have for cleaning up.
GRACE_S: Final = 5.0


class Session:
    """One client's conversation.

    `write` gets whole messages, from any thread, one at a time. `identify` finds the user of a call; it is
    asked anew for each, and only if the call wants to know.
    """

    def __init__(
        self, server: Server, write: Callable[[bytes], None], identify: Callable[[], Any] | None = None
    ) -> None:
        self._server = _Announcing(server.name)
        self._settings = server.settings
        self._identify = identify
        self._write = write
        #: Guards the output and the calls: nothing is written for a call that is not among them any more.
        self._lock = threading.RLock()
        self._calls: dict[Any, Call] = {}
        self._waiting: deque[Call] = deque()
        self._running = 0
        self._idle = threading.Condition(self._lock)
        self._is_over = False
        self._loop = _Loop()
        self._revision: str | None = None
        #: Where no earlier revision is served, there is nothing to wait for.
        self._is_modern = not self._settings.legacy_versions

    def serve(self, lines: IO[bytes]) -> None:
        """Answer until the input ends, or nobody reads the answers."""
        limit = self._settings.max_body_bytes
        while not self._is_over and (line := lines.readline(limit + 2)):
            if not line.endswith(b"\n") and len(line) > limit:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(limit)
                self._refuse(reading.too_large(self._settings), None)
            elif line.strip():
                self.receive(line.rstrip(b"\r\n"))

    def receive(self, line: bytes) -> None:
        """Take one message; a call is answered later, from elsewhere."""
        message = None
        try:
            message = jsonrpc.classify(reading.decoded(line, self._settings))
            if message.is_request:
                self._place(message)
                self._check_unused(message)
        except ProtocolError as error:
            self._refuse(error, message)
            return
        if message.method == "notifications/cancelled":
            self._cancel(message.params.get("requestId"))
        elif message.is_request and message.method == "tools/call":
            self._start(message)
        elif message.is_request:
            self._answer(message)

    def close(self) -> bool:
        """Give up every call and wait until they have cleaned up. False where some did not in time."""
        until = time.monotonic() + GRACE_S
        with self._lock:
            self._give_up()
            ended = self._idle.wait_for(lambda: self._running == 0, GRACE_S)
        return self._loop.close(max(0, until - time.monotonic())) and ended

    def _place(self, message: Message) -> None:
        """Note the era of a request; the first one's is that of all. Raises ProtocolError."""
        known = None
        if versions.is_modern(message):
            if self._revision is not None:
                text = "This conversation began with initialize, so its requests have no modern _meta."
                raise ProtocolError(400, INVALID_REQUEST, "era", text, request_id=message.id)
        elif message.method == "initialize":
            if self._is_modern:
                raise versions.unsupported(message, message.params.get("protocolVersion"), self._settings)
            self._revision = versions.agreed(message, self._settings)
        else:
            # Before the handshake there is nothing but a ping.
            known = self._revision or (
                versions.MODERN if self._is_modern else min(self._settings.legacy_versions)
            )
        versions.choose_era(message, known, self._settings)
        if not message.legacy:
            versions.check_fields(message)
            versions.check_version(message, self._settings)
            self._is_modern = True

    def _check_unused(self, message: Message) -> None:
        with self._lock:
            if message.id in self._calls:
                text = "A call with this id is still running; ids are used once."
                raise ProtocolError(400, INVALID_REQUEST, "id_in_use", text, request_id=message.id)

    def _context(self, notify: Callable[[bytes], None] | None = None) -> Context:
        # A user who is kept would keep the permissions of when the process began.
        identity = None if self._identify is None else SimpleLazyObject(self._identify)
        return Context(identity=identity, notify=notify)

    def _answer(self, message: Message) -> None:
        close_old_connections()
        try:
            self._send(self._server.handle(message, self._context()).body)
        finally:
            close_old_connections()

    def _start(self, message: Message) -> None:
        call = Call(
            self._server,
            message,
            self._context(lambda body: self._notify(message.id, call, body)),
            lambda response: self._end(message.id, call, response),
        )
        with self._lock:
            self._calls[message.id] = call
            self._waiting.append(call)
            self._run_next()

    def _run_next(self) -> None:
        if self._waiting and self._running < AT_ONCE:
            self._running += 1
            self._loop.call(self._waiting.popleft().start_on_loop)

    def _cancel(self, request_id: Any) -> None:
        # True would be found under 1.
        if isinstance(request_id, bool) or not isinstance(request_id, (str, int, float)):
            return
        with self._lock:
            call = self._calls.pop(request_id, None)
            if call is not None:
                call.cancel()

    def _notify(self, request_id: Any, call: Call, body: bytes) -> None:
        with self._lock:
            if self._calls.get(request_id) is call:
                self._send(body)

    def _end(self, request_id: Any, call: Call, response: Response | None) -> None:
        with self._lock:
            if self._calls.get(request_id) is call:
                del self._calls[request_id]
                if response is not None:
                    self._send(response.body)
            self._running -= 1
            self._run_next()
            self._idle.notify_all()

    def _refuse(self, error: ProtocolError, message: Message | None) -> None:
        fields = _refusal(self._server, "stdio", message, error.reason, error.code)
        signals.send(signals.request_rejected, type(self), **fields)
        self._send(jsonrpc.error(error.request_id, error.code, error.message, error.data))

    def _send(self, body: bytes) -> None:
        with self._lock:
            try:
                self._write(body + b"\n")
            except OSError:
                # Nobody reads any more: a broken pipe, which is another error on Windows.
                self._is_over = True
                self._give_up()

    def _give_up(self) -> None:
        self._waiting.clear()
        while self._calls:
            self._calls.popitem()[1].cancel()


class _Announcing(Server):
    """A server whose refusals are announced, as the HTTP view announces them."""

    def handle(self, message: Message, ctx: Context) -> Response:
        response = super().handle(message, ctx)
        if response.reason is not None:
            signals.send(signals.request_rejected, Server, **self._refused(message, response))
        return response

    async def ahandle(self, message: Message, ctx: Context) -> Response:
        response = await super().ahandle(message, ctx)
        await self._announce(message, response)
        return response

    async def _announce(self, message: Message, response: Response) -> None:
        if response.reason is not None:
            await signals.asend(signals.request_rejected, Server, **self._refused(message, response))

    def _refused(self, message: Message, response: Response) -> dict[str, Any]:
        return _refusal(self, "dispatch", message, response.reason, response.code)


def _refusal(
    server: Server, check: str, message: Message | None, reason: str | None, code: int | None
) -> dict[str, Any]:
    """What the signal of a refusal says; there is no HTTP status."""
    return {
        "server": server.name,
        "request_id": None if message is None or message.id is NO_ID else message.id,
        "method": None if message is None else bound.value(message.method),
        "check": check,
        "reason": reason,
        "status": None,
        "code": code,
    }


class _Loop:
    """An event loop in a thread of its own, the same for all calls, as under ASGI."""

    def __init__(self) -> None:
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()
        self._closed = asyncio.Event()
        self._thread = threading.Thread(
            target=self._run, args=(runner,), name="django_mcp event loop", daemon=True
        )
        self._thread.start()

    def _run(self, runner: asyncio.Runner) -> None:
        with runner:
            runner.run(self._closed.wait())

    def call(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    def close(self, timeout: float) -> bool:
        """Cancel what is left on the loop. False where it does not end in time."""
        self._loop.call_soon_threadsafe(self._closed.set)
        self._thread.join(timeout)
        return not self._thread.is_alive()
