"""Requests as clients send them, and the answers they get, for tests of the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from django_mcp import BaseTool, testing

P = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26"]
SERVED = [MODERN, *LEGACY]
ACCEPT = "application/json, text/event-stream"
SERVER_INFO = {f"{P}serverInfo": {"name": "MCP Server", "version": "1.0.0"}}
META = {f"{P}protocolVersion": MODERN, f"{P}clientCapabilities": {}}
#: A header or member that is left out.
ABSENT: Any = object()


@dataclass
class Answer:
    """All that a client sees of an answer, and the mark the site sees."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    mark: Any = None
    #: The body as it was sent, for the tests that compare byte for byte.
    content: bytes = field(default=b"", compare=False, repr=False)


class Wire:
    """One way for a request to reach a view: a test client of Django's and a mount."""

    def __init__(self, client: Any, mount: str) -> None:
        self._client = client
        self.mount = mount

    def send(self, verb="POST", path=None, body=b"", headers=None, **extra) -> Answer:
        """Send bytes. The answer is JSON or empty, whatever is sent."""
        headers = {"Content-Type": "application/json", "Accept": ACCEPT, **(headers or {})}
        headers = {name: value for name, value in headers.items() if value is not ABSENT}
        path = self.mount if path is None else path
        response = self._generic(verb, path, body, "", headers=headers, **extra)
        if response.content:
            assert response.headers["Content-Type"] == "application/json"
        shown = {
            name: response.headers[name] for name in ("Allow", "WWW-Authenticate") if name in response.headers
        }
        request = response.asgi_request if hasattr(response, "asgi_request") else response.wsgi_request
        return Answer(
            response.status_code,
            json.loads(response.content) if response.content else None,
            shown,
            getattr(request, "mcp_rejection", None),
            response.content,
        )

    def _generic(self, *args, **kwargs):
        if not isinstance(self._client, AsyncClient):
            return self._client.generic(*args, **kwargs)

        async def generic():
            return await self._client.generic(*args, **kwargs)

        return async_to_sync(generic)()

    def post(self, value, headers=None, **extra) -> Answer:
        """Send one JSON value with exactly these headers besides Content-Type and Accept."""
        return self.send(body=json.dumps(value).encode(), headers=headers, **extra)

    def modern(self, method, params=None, *, id=1, meta=META, headers=None, **extra) -> Answer:
        """Send a request of the modern revision with the headers it implies; `headers` replaces some of them."""
        value = request(method, params, id=id, meta=meta)
        return self.post(value, {**implied(value), **(headers or {})}, **extra)

    def legacy(self, method, params=None, *, id=1, version="2025-11-25", headers=None) -> Answer:
        """Send a request of an earlier revision."""
        value = request(method, params, id=id, meta=ABSENT)
        return self.post(value, {"MCP-Protocol-Version": version, **(headers or {})})


def request(method, params=None, *, id=1, meta=META):
    value = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {})}}
    if meta is not ABSENT:
        value["params"]["_meta"] = meta
    if id is ABSENT:
        del value["id"]
    return value


def implied(value):
    """The mirrored headers of a modern request."""
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": value["method"]}
    if value["method"] == "tools/call":
        headers["Mcp-Name"] = value["params"].get("name", ABSENT)
    elif value["method"].startswith("tasks/"):
        headers["Mcp-Name"] = value["params"].get("taskId", ABSENT)
    return headers


def result(members, *, id=1, status=200):
    """A modern answer: the members of a finished result."""
    meta = {**members.get("_meta", {}), **SERVER_INFO}
    return Answer(
        status, {"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", **members, "_meta": meta}}
    )


def members(result):
    """A finished modern result without what every one carries."""
    stamps = {"resultType": "complete", "_meta": {**result["_meta"], **SERVER_INFO}}
    assert {key: result[key] for key in stamps} == stamps
    meta = {key: value for key, value in result["_meta"].items() if key not in SERVER_INFO}
    return {key: value for key, value in result.items() if key not in stamps} | {"_meta": meta}


def text(text, *, is_error=False, meta=None):
    """The members of a tool's text answer."""
    members = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return members if meta is None else {**members, "_meta": meta}


def refused(check, reason, status, code, message, *, id=1, data=None, headers=None):
    """A refusal as the client and the site see it; without an `id` where none could be read."""
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    body = {"jsonrpc": "2.0", "error": error}
    if id is not ABSENT:
        body["id"] = id
    return Answer(status, body, headers or {}, Mark(check, reason, status, code))


@dataclass(frozen=True)
class Mark:
    check: str
    reason: str
    status: int
    code: int | None

    def __eq__(self, other: object) -> bool:
        return all(
            getattr(other, name, ABSENT) == getattr(self, name)
            for name in ("check", "reason", "status", "code")
        )


class OneOfEachClient(AsyncClient):
    """Django's client sends headers of its own besides those of the same name that a test asks for."""

    async def request(self, **scope):
        return await super().request(**{**scope, "headers": [*dict(scope["headers"]).items()]})


#: Both views under both kinds of request: name to client and mount.
WIRES = {
    "sync view, WSGI": (Client, "/mcp"),
    "async view, WSGI": (Client, "/amcp"),
    "sync view, ASGI": (OneOfEachClient, "/mcp"),
    "async view, ASGI": (OneOfEachClient, "/amcp"),
}


@pytest.fixture(params=WIRES)
def wire(request):
    """Each way a request can take, with nothing but the tool `echo` served."""
    client, mount = WIRES[request.param]
    with testing.served(Echo):
        yield Wire(client(), mount)


class Echo(BaseTool):
    """Says what it was sent."""

    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return arguments
