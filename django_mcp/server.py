from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from django_mcp import conf
from django_mcp.authoring.errors import ConfigurationError
from django_mcp.dispatch.threads import abandonable, in_thread
from django_mcp.protocol import jsonrpc, progress, tasks, versions
from django_mcp.protocol.exchange import Exchange
from django_mcp.protocol.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Message, ProtocolError, Response
from django_mcp.protocol.methods import (
    discover,
    initialize,
    ping,
    set_level,
    tasks_cancel,
    tasks_get,
    tasks_update,
    tools_call,
    tools_list,
)
from django_mcp.registry import catalog as registry
from django_mcp.registry.catalog import Catalog, View
from django_mcp.registry.registration import Registration
from django_mcp.schema import bound

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

logger = logging.getLogger("django_mcp")

Answer = Callable[[Exchange], bytes]

_MODERN: Final[dict[str, Answer]] = {
    "server/discover": discover.answer,
    "tasks/cancel": tasks_cancel.answer,
    "tasks/get": tasks_get.answer,
    "tasks/update": tasks_update.answer,
    "tools/call": tools_call.answer,
    "tools/list": tools_list.answer,
}
_LEGACY: Final[dict[str, Answer]] = {
    "initialize": initialize.answer,
    "logging/setLevel": set_level.answer,
    "ping": ping.answer,
    "tools/call": tools_call.answer,
    "tools/list": tools_list.answer,
}
#: Methods that never run on the event loop: what they call may ask the database.
_ASKS_DATABASE: Final = ("tools/call", *tasks.METHODS)


class Server:
    """One MCP server, whatever carries its messages; every transport goes through `handle` or `ahandle`."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def settings(self) -> conf.ServerSettings:
        return conf.get().server(self.name)

    @property
    def catalog(self) -> Catalog:
        """What the server serves. Raises ConfigurationError while it is misconfigured."""
        return registry.catalog(self.name)

    @property
    def is_built(self) -> bool:
        """Whether the catalog is at hand, so that asking for it runs no code of the site."""
        return registry.is_built(self.name)

    @property
    def tools(self) -> tuple[Registration, ...]:
        """Every tool in listing order, before any caller's permissions."""
        return self.catalog.registrations

    def handle(self, message: Message, ctx: Context) -> Response:
        """Answer a message whose era is known. Never raises; for a thread that may touch the database."""
        if not message.is_request:
            return jsonrpc.ACCEPTED
        try:
            exchange = self._exchange(message, ctx)
            return jsonrpc.result(message.id, _method(exchange)(exchange))
        except Exception as raised:
            return _failed(message, raised)

    async def ahandle(self, message: Message, ctx: Context) -> Response:
        """`handle` on an event loop, which is never blocked: what may touch the database leaves it."""
        if not message.is_request:
            return jsonrpc.ACCEPTED
        try:
            if self.is_built:
                exchange = self._exchange(message, ctx)
            else:
                # Building runs the site's code.
                exchange = await in_thread(self._exchange, message, ctx)
            answer = _method(exchange)
            if answer is tools_call.answer and tools_call.awaits(exchange.catalog, message):
                return jsonrpc.result(message.id, await tools_call.aanswer(exchange))
            if message.method in _ASKS_DATABASE or exchange.catalog.guarded:
                return jsonrpc.result(message.id, await abandonable(ctx, answer, exchange))
            return jsonrpc.result(message.id, answer(exchange))
        except Exception as raised:
            return _failed(message, raised)

    def view(self, message: Message, ctx: Context) -> View:
        """What the caller sees; the same one however often it is asked for, so permissions are asked once."""
        view: View | None = ctx.view
        if view is not None:
            return view
        catalog = registry.catalog(self.name)
        ctx.request_id = None if message.id is jsonrpc.NO_ID else message.id
        ctx.server = self.name
        ctx.meta = message.meta
        ctx.version = message.version
        if not message.legacy:
            ctx.capabilities = message.meta.get(versions.CLIENT_CAPABILITIES, {})
        view = ctx.view = catalog.view(ctx)
        return view

    def _exchange(self, message: Message, ctx: Context) -> Exchange:
        view: View = ctx.view or self.view(message, ctx)
        if ctx.notify is not None:
            ctx.reporter = progress.reporter(message, ctx.notify)
        return Exchange(message, ctx, view.catalog.settings, view.catalog, view)


def _method(exchange: Exchange) -> Answer:
    message = exchange.message
    answer = (_LEGACY if message.legacy else _MODERN).get(message.method)
    if answer is tools_call.answer:
        if not message.is_checked:
            tools_call.check_params(message)
        return answer
    if message.method in tasks.METHODS:
        if exchange.catalog.has_background:
            tasks.check_params(message)
        else:
            answer = None
    if answer is None:
        text = f"Method not found: {bound.echo(message.method)}"
        if message.method == "initialize":
            # The user of a client from before 2026-07-28 sees this text and nothing else.
            text += f"; the protocol versions served are {', '.join(versions.served(exchange.settings))}"
        raise ProtocolError(404, METHOD_NOT_FOUND, "method_not_found", text, request_id=message.id)
    return answer


def _failed(message: Message, raised: Exception) -> Response:
    """The error a request is answered with. A legacy client reads errors at HTTP 200 only."""
    if isinstance(raised, ProtocolError):
        error = raised
    elif isinstance(raised, ConfigurationError):
        text = "The server is misconfigured; its log says how."
        error = ProtocolError(200, INTERNAL_ERROR, "misconfigured", text)
    else:
        logger.error("A request failed inside the server: %s", message.method, exc_info=raised)
        text = "Internal error; the server's log has it."
        error = ProtocolError(200, INTERNAL_ERROR, "internal_error", text)
    status = 200 if message.legacy else error.status
    body = jsonrpc.error(message.id, error.code, error.message, error.data)
    return Response(status, body, error.code, error.reason)


def get_server(name: str = "default") -> Server:
    """The server of a name in `DJANGO_MCP["SERVERS"]`, or the default one. Raises ConfigurationError."""
    return server_of(conf.get().server(name))


@lru_cache(maxsize=64)
def server_of(settings: conf.ServerSettings) -> Server:
    """The server that is configured so."""
    return Server(settings.key)
