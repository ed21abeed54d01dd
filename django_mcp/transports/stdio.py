"""MCP over standard input and output: one JSON-RPC message a line (MCP transports, stdio).

A client starts the process and is its only caller. What it sends first decides the era for good: `_meta` of
2026-07-28, or the handshake of the revisions before.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import IO, Any, Final

from django.db import close_old_connections

from django_mcp.authoring.context import Context
from django_mcp.protocol import jsonrpc, reading, versions
from django_mcp.protocol.jsonrpc import INVALID_REQUEST, Message, ProtocolError, Response
from django_mcp.server import Server
from django_mcp.transports.calls import Call

#: Seconds that calls which are given up at the end have for cleaning up.
GRACE_S: Final = 5.0

_output: int | None = None


def divert() -> Callable[[bytes], None]:
    """Keep standard output for messages: what prints to it from now on, also from C, goes to standard error.

    Returns what writes there; however often it is called, output is diverted once.
    """
    global _output
    if _output is None:
        sys.stdout.flush()
        _output = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
    return partial(_write, _output)


def _write(descriptor: int, message: bytes) -> None:
    left = memoryview(message)
    while left:
        left = left[os.write(descriptor, left) :]


def is_commanded(arguments: list[str]) -> bool:
    """Whether this process is `manage.py mcp stdio`, so that even what apps print at import is diverted."""
    return arguments[1:3] == ["mcp", "stdio"]


class Session:
    """One client's conversation. `write` gets whole messages, from any thread, one at a time."""

    def __init__(self, server: Server, write: Callable[[bytes], None], identity: Any = None) -> None:
        self._server = server
        self._settings = server.settings
        self._identity = identity
        self._write = write
        #: Guards the output and the calls: nothing is written for a call that is not among them any more.
        self._lock = threading.RLock()
        self._calls: dict[Any, Call] = {}
        self._idle = threading.Condition(self._lock)
        self._running = 0
        self._revision: str | None = None
        self._is_modern = False

    def serve(self, lines: IO[bytes]) -> None:
        """Answer until the input ends, then give up what still runs."""
        limit = self._settings.max_body_bytes
        while line := lines.readline(limit + 2):
            if not line.endswith(b"\n") and len(line) > limit:
                while line and not line.endswith(b"\n"):
                    line = lines.readline(limit)
                self._refuse(reading.too_large(self._settings))
            elif line.strip():
                self.receive(line.rstrip(b"\r\n"))
        self.close()

    def receive(self, line: bytes) -> None:
        """Take one message; a call is answered later, from a thread of its own."""
        try:
            message = jsonrpc.classify(reading.decoded(line, self._settings))
            if message.kind == "response":
                return  # to a request that was never sent
            self._place(message)
        except ProtocolError as error:
            self._refuse(error)
            return
        if message.method == "notifications/cancelled":
            self._cancel(message.params.get("requestId"))
        elif message.is_request and message.method == "tools/call":
            self._start(message)
        elif message.is_request:
            close_old_connections()
            self._send(self._server.handle(message, self._context()).body)

    def close(self) -> None:
        """Give up every call and wait until they have cleaned up; not for ever."""
        with self._lock:
            for key in list(self._calls):
                self._calls.pop(key).cancel()
            self._idle.wait_for(lambda: self._running == 0, GRACE_S)

    def _context(self, notify: Callable[[bytes], None] | None = None) -> Context:
        return Context(identity=self._identity, notify=notify)

    def _place(self, message: Message) -> None:
        """Note the era of a message, which is that of the first request. Raises ProtocolError."""
        handshake = message.is_request and message.method == "initialize"
        if self._is_modern and handshake:
            raise versions.unsupported(message, message.params.get("protocolVersion"), self._settings)
        if self._revision is not None and versions.is_modern(message):
            text = "This conversation began with initialize, so its requests have no modern _meta."
            raise ProtocolError(400, INVALID_REQUEST, "era", text, request_id=message.id)
        known = versions.MODERN if self._is_modern else self._revision
        versions.choose_era(message, known, self._settings)
        if message.is_request and not message.legacy:
            versions.check_fields(message)
            versions.check_version(message, self._settings)
            self._is_modern = True
        elif handshake:
            self._revision = versions.agreed(message, self._settings)

    def _start(self, message: Message) -> None:
        with self._lock:
            if message.id in self._calls:
                text = "A call with this id is still running; ids are used once."
                error = ProtocolError(400, INVALID_REQUEST, "id_in_use", text, request_id=message.id)
                self._refuse(error)
                return
            call = Call(
                self._server,
                message,
                self._context(lambda body: self._notify(message.id, call, body)),
                lambda response: self._end(message.id, call, response),
            )
            self._calls[message.id] = call
            self._running += 1
        call.start()

    def _cancel(self, request_id: Any) -> None:
        with self._lock:
            call = self._calls.pop(request_id, None) if isinstance(request_id, (str, int, float)) else None
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
            self._idle.notify_all()

    def _refuse(self, error: ProtocolError) -> None:
        self._send(jsonrpc.error(error.request_id, error.code, error.message, error.data))

    def _send(self, body: bytes) -> None:
        # A client that is gone reads nothing; its input ends as well, and with it the conversation.
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._write(body + b"\n")
