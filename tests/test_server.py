from __future__ import annotations

import logging

import pytest
from asgiref.sync import async_to_sync

from django_mcp import BaseTool, ConfigurationError, Context, get_server, testing
from django_mcp.dispatch.help import Help
from django_mcp.protocol import jsonrpc, versions
from tests.wire import META, Echo, request, text

MISCONFIGURED = "The server is misconfigured; its log says how."


class Nameless(BaseTool):
    """Refused by the system checks."""

    name = "not a name"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return {}


@pytest.fixture(params=["sync", "async"])
def handle(request):
    """Hand the default server a message, from a thread or from an event loop."""

    def call(message, ctx=None):
        server = get_server()
        handler = server.handle if request.param == "sync" else async_to_sync(server.ahandle)
        return handler(message, ctx or Context())

    with testing.served(Echo):
        yield call


def modern(method, params=None, **more):
    message = jsonrpc.classify(request(method, params, **more))
    message.version, message.meta = versions.MODERN, META
    return message


def test_a_request_is_answered_without_any_transport(handle):
    answer = handle(modern("tools/call", {"name": "echo", "arguments": {"a": 1}}))

    assert (answer.status, answer.code, answer.reason) == (200, None, None)
    assert answer.body == (
        b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"{\\"a\\":1}"}],'
        b'"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"MCP Server","version":"1.0.0"}}}}'
    )


def test_a_notification_is_accepted(handle):
    message = jsonrpc.classify({"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert handle(message) == jsonrpc.Response(202, b"")


def test_a_context_is_told_of_the_call(handle):
    ctx = Context()

    handle(modern("tools/call", {"name": "echo"}, id="x"), ctx)

    assert (ctx.server, ctx.request_id, ctx.version, ctx.meta, ctx.capabilities) == (
        "default",
        "x",
        "2026-07-28",
        META,
        {},
    )


def test_the_params_of_a_call_are_held_to_their_shape(handle):
    answer = handle(modern("tools/call", {"name": "echo", "arguments": 5}))

    assert (answer.status, answer.code, answer.reason) == (400, -32602, "invalid_params")


def test_a_call_without_a_name_is_refused(handle):
    answer = handle(modern("tools/call"))

    assert (answer.status, answer.code, answer.reason) == (400, -32602, "invalid_params")


def test_a_server_knows_its_tools():
    with testing.served(Echo):
        assert [type(registration.tool) for registration in get_server().tools] == [Echo, Help]


def test_a_server_is_the_same_one_for_a_name():
    assert get_server() is get_server("default")


def test_there_is_no_server_that_is_not_configured():
    with pytest.raises(ConfigurationError) as raised:
        get_server("staff")

    assert raised.value.message == "There is no server 'staff' in DJANGO_MCP[\"SERVERS\"]; there are default."


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call", "unknown"])
def test_while_a_tool_is_refused_every_modern_request_is_an_internal_error(wire, caplog, method):
    with testing.served(Echo, Nameless):
        answer = wire.modern(method, {"name": "echo"})

    assert (answer.status, answer.body) == (
        200,
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": MISCONFIGURED}},
    )


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/list", "tools/call"])
def test_and_every_legacy_one(wire, method):
    with testing.served(Echo, Nameless):
        answer = wire.legacy(method, {"name": "echo", "protocolVersion": "2025-11-25"})

    assert answer.body == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": MISCONFIGURED}}


def test_the_operator_is_told_once(wire, caplog):
    with testing.served(Echo, Nameless):
        for _ in range(3):
            wire.modern("tools/list")

    critical = [record for record in caplog.records if record.levelno == logging.CRITICAL]
    assert [record.name for record in critical] == ["django_mcp"]
    assert "Server 'default' is misconfigured and serves nothing." in critical[0].message


def test_a_failure_of_the_server_itself_tells_the_client_nothing(wire, caplog, monkeypatch):
    def fail(*args):
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr("django_mcp.protocol.methods.tools_call._finish", fail)
    message = "Internal error; the server's log has it."

    answer = wire.modern("tools/call", {"name": "echo"})

    assert (answer.status, answer.body) == (
        200,
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": message}},
    )
    assert "A request failed inside the server: tools/call" in caplog.text
    assert "the secret is 42" in caplog.text


def test_the_name_and_version_of_the_server_follow_the_settings(wire, settings):
    for name, version in [("shop", "1"), ("store", "2")]:
        settings.DJANGO_MCP = {"NAME": name, "VERSION": version}
        assert wire.modern("tools/call", {"name": "echo"}).body["result"] == {
            "resultType": "complete",
            **text("{}"),
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": name, "version": version}},
        }
