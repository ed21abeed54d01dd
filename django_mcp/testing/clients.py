"""Clients of the endpoint, on Django's test clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import test
from django.urls import resolve, reverse

from django_mcp.encoding import codec
from django_mcp.protocol.versions import MODERN
from django_mcp.testing import results
from django_mcp.testing.requests import build_request, call_params, is_legacy, mirrored_headers
from django_mcp.testing.rounds import ASKS, Answers, Rounds


class _Peer:
    """What both clients are: a speaker of one protocol revision to one endpoint."""

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        version: str = MODERN,
        capabilities: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.endpoint = reverse("django_mcp:endpoint") if endpoint is None else endpoint
        self.version = version
        self.capabilities = capabilities
        # Not left to Django, whose AsyncClient sends default headers under the names WSGI has for them.
        self._headers = headers or {}
        self._last_id = 0
        #: A legacy client has to introduce itself first.
        self._introduced = not is_legacy(version)

    def _body(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        meta: Mapping[str, Any] | None,
        capabilities: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        self._last_id += 1
        return build_request(
            method,
            params,
            id=self._last_id,
            version=self.version,
            capabilities=self.capabilities if capabilities is None else capabilities,
            meta=meta,
        )

    def _capabilities(self, answers: Answers | None) -> Mapping[str, Any] | None:
        """What a call declares: that it asks, where it is given answers and nothing else is said."""
        return ASKS if self.capabilities is None and answers is not None else None

    def _post(self, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The arguments of a POST with this message."""
        version = None if body["method"] == "initialize" else self.version
        mirrored = mirrored_headers(body, server=_served_at(self.endpoint), version=version)
        accept = {"Accept": "application/json, text/event-stream"}
        return {
            "path": self.endpoint,
            "data": codec.encode(body),
            "content_type": "application/json",
            "headers": {**accept, **mirrored, **self._headers, **(headers or {})},
        }

    def _introduction(self) -> dict[str, Any]:
        """The params of `initialize`."""
        self._introduced = True
        return {
            "protocolVersion": self.version,
            "capabilities": dict(self.capabilities or {}),
            "clientInfo": {"name": "django_mcp.testing", "version": "1"},
        }

    def _agree(self, result: dict[str, Any]) -> dict[str, Any]:
        if result["protocolVersion"] != self.version:
            raise AssertionError(f"The server does not serve {self.version}: {codec.text(result)}")
        return result


#: What a legacy client says once `initialize` is answered.
_INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Client(_Peer, test.Client):
    """An MCP client of the site, for tests; otherwise Django's test client, with `login` and all the rest.

    `endpoint` is the URL path of the endpoint, by default the first one included. `version` is the protocol
    revision spoken; one from before 2026-07-28 sends `initialize` before its first request. `capabilities` is
    what the client declares: by default nothing, and elicitation for calls that are given answers. `headers`
    go with every message. Everything else goes to Django's test client.
    """

    def discover(self) -> dict[str, Any]:
        """The result of `server/discover`."""
        return self.send("server/discover")

    def initialize(self) -> dict[str, Any]:
        """The result of `initialize`, for revisions from before 2026-07-28."""
        result = self.send("initialize", self._introduction())
        self.post(**self._post(_INITIALIZED))
        return self._agree(result)

    def list_tools(self) -> list[dict[str, Any]]:
        """The tools as `tools/list` defines them to this caller."""
        tools: list[dict[str, Any]] = self.send("tools/list")["tools"]
        return tools

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        action: str | None = None,
        data: Mapping[str, Any] | None = None,
        answers: Answers | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The result of `tools/call`: of an action with its data, or with the arguments as they are.

        `answers` maps the keys of questions to what the user says: a mapping is an accepted form, `"accept"`,
        `"decline"` and `"cancel"` are the bare action. The call is repeated until nothing is asked any more;
        without `answers` the result that asks is returned. Raises JSONRPCError where the request is refused,
        AssertionError for a question without an answer and for one whose answer does not fit.
        """
        params: dict[str, Any] | None = call_params(tool, arguments, action, data)
        rounds = Rounds(params or {}, answers)
        options = {"meta": meta, "headers": headers, "capabilities": self._capabilities(answers)}
        while params is not None:
            result = self.send("tools/call", params, **options)
            params = rounds.after(result)
        return result

    def help(self, tool: str | None = None, action: str | None = None) -> Any:
        """What the `help` tool tells: of all tools, of one, or of one action."""
        return results.json(self.call("help", _target(tool, action)))

    def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The result of any request. Raises JSONRPCError.

        `capabilities` is what the client declares this time instead of its own.
        """
        if not self._introduced:
            self.initialize()
        response = self.post(**self._post(self._body(method, params, meta, capabilities), headers))
        return results.read(response.status_code, response.content)


class AsyncClient(_Peer, test.AsyncClient):
    """`Client` for async tests, on Django's AsyncClient."""

    async def discover(self) -> dict[str, Any]:
        """The result of `server/discover`."""
        return await self.send("server/discover")

    async def initialize(self) -> dict[str, Any]:
        """The result of `initialize`, for revisions from before 2026-07-28."""
        result = await self.send("initialize", self._introduction())
        await self.post(**self._post(_INITIALIZED))
        return self._agree(result)

    async def list_tools(self) -> list[dict[str, Any]]:
        """The tools as `tools/list` defines them to this caller."""
        tools: list[dict[str, Any]] = (await self.send("tools/list"))["tools"]
        return tools

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        action: str | None = None,
        data: Mapping[str, Any] | None = None,
        answers: Answers | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The result of `tools/call`; see `Client.call`."""
        params: dict[str, Any] | None = call_params(tool, arguments, action, data)
        rounds = Rounds(params or {}, answers)
        options = {"meta": meta, "headers": headers, "capabilities": self._capabilities(answers)}
        while params is not None:
            result = await self.send("tools/call", params, **options)
            params = rounds.after(result)
        return result

    async def help(self, tool: str | None = None, action: str | None = None) -> Any:
        """What the `help` tool tells: of all tools, of one, or of one action."""
        return results.json(await self.call("help", _target(tool, action)))

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        capabilities: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The result of any request. Raises JSONRPCError."""
        if not self._introduced:
            await self.initialize()
        response = await self.post(**self._post(self._body(method, params, meta, capabilities), headers))
        return results.read(response.status_code, response.content)


def _target(tool: str | None, action: str | None) -> dict[str, str]:
    parts = {"tool": tool, "action": action}
    return {name: part for name, part in parts.items() if part is not None}


def _served_at(endpoint: str) -> str:
    """The name of the server behind an endpoint."""
    match = resolve(endpoint)
    view: Any = match.func
    named = match.kwargs.get("server") or view.view_initkwargs.get("server")
    return str(named or view.view_class.server)
