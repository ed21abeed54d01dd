"""The base of every wire check: a Django middleware that lets a request pass or answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse

from django_mcp.authoring.context import Context
from django_mcp.conf import ServerSettings
from django_mcp.protocol.jsonrpc import NO_ID, UNREAD, Id, ProtocolError
from django_mcp.server import Server
from django_mcp.transports.http import responses

GetResponse = Callable[[HttpRequest], Any]


class Request(HttpRequest):
    """A request on its way through the checks, for annotations: `mcp` is its Exchange."""

    mcp: Exchange
    mcp_assigns: dict[str, Any]


class Exchange:
    """What the checks of one request hand on, as `request.mcp`."""

    __slots__ = ("body", "ctx", "identity", "message", "server", "settings")

    def __init__(self, server: Server, settings: ServerSettings) -> None:
        self.server = server
        self.settings = settings
        self.body: Any = None
        self.identity: Any = None
        self.message = UNREAD
        self.ctx: Context | None = None


class WireCheck:
    """Subclass it, give it a name and its reasons, and write `check`.

    `check(request)` returns None to let the request pass, or a response. `refuse` builds one from a
    ProtocolError, and a ProtocolError that is raised is refused the same way; its reason has to be among the
    declared `reasons`. The same pure function serves both views; override `acheck` only where the check has
    to await something. `request.mcp` is the Exchange.
    """

    sync_capable = True
    async_capable = True

    name: ClassVar[str]
    reasons: ClassVar[frozenset[str]]

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.source = responses.Source(type(self), self.name, self.reasons)
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)
        self._row: tuple[WireCheck, ...] = (self,)
        self._behind = get_response
        # Checks in a row are passed in a loop: calling the next one costs more than most of them do.
        if isinstance(get_response, WireCheck) and type(get_response).__call__ is WireCheck.__call__:
            self._row += get_response._row
            self._behind = get_response._behind
        self._awaits = type(self).acheck is not WireCheck.acheck

    def __call__(self, request: Request) -> Any:
        if self._is_async:
            return self._acall(request)
        for one in self._row:
            try:
                response = one.check(request)
            except ProtocolError as error:
                response = one.refuse(request, error)
            if response is not None:
                return response
        return self._behind(request)

    async def _acall(self, request: Request) -> Any:
        for one in self._row:
            try:
                response = await one.acheck(request) if one._awaits else one.check(request)
            except ProtocolError as error:
                response = one.refuse(request, error)
            if response is not None:
                return response
        return await self._behind(request)

    def check(self, request: Request) -> HttpResponse | None:
        raise NotImplementedError

    async def acheck(self, request: Request) -> HttpResponse | None:
        return self.check(request)

    def refuse(
        self, request: Request, error: ProtocolError, headers: Mapping[str, str] | None = None
    ) -> HttpResponse:
        """Answer with this error, under the id of the request where it has one."""
        request_id = _request_id(request, error)
        return responses.reject(request, self.source, error, request_id=request_id, headers=headers)


def _request_id(request: Request, error: ProtocolError) -> Id:
    """Only a request's id is echoed: a notification has none, and a response's is another's."""
    if error.request_id is not NO_ID:
        return error.request_id
    message = request.mcp.message
    return message.id if message.is_request else NO_ID


def context(request: Request) -> Context:
    """The one context of a request that has passed authentication; permissions and handler get the same."""
    opened = request.mcp
    if opened.ctx is None:
        opened.ctx = Context(request=request, identity=opened.identity, assigns=request.mcp_assigns)
    return opened.ctx
