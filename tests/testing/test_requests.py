"""Bodies and headers that the endpoint takes as they are built."""

from __future__ import annotations

import pytest

from django_mcp import testing
from django_mcp.testing.requests import header_value
from tests.testing.shop import SHOP
from tests.wire import LEGACY, META, P, result, text


@pytest.fixture
def post(wire):
    def call(body, **options):
        return wire.post(body, testing.mirrored_headers(body, **options))

    with testing.served(*SHOP):
        yield call


def test_a_request_has_its_protocol_fields():
    assert testing.build_request("tools/list") == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {"_meta": META},
    }


def test_a_request_says_what_it_is_told_to_say():
    body = testing.build_request(
        "x", {"a": 1}, id="r", version="2030-01-01", capabilities={"roots": {}}, meta={"k": 1}
    )

    meta = {f"{P}protocolVersion": "2030-01-01", f"{P}clientCapabilities": {"roots": {}}, "k": 1}
    assert body == {"jsonrpc": "2.0", "id": "r", "method": "x", "params": {"a": 1, "_meta": meta}}


@pytest.mark.parametrize("version", LEGACY)
def test_a_request_of_an_earlier_revision_has_none(version):
    plain = testing.build_request("ping", version=version)
    meant = testing.build_request("ping", version=version, meta={"progressToken": 1})

    assert plain == {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
    assert meant["params"] == {"_meta": {"progressToken": 1}}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, {}),
        ({"arguments": {"a": 1}}, {"a": 1}),
        ({"action": "find"}, {"action": "find"}),
        ({"action": "find", "data": {"a": 1}}, {"action": "find", "data": {"a": 1}}),
        ({"data": {}}, {"data": {}}),
    ],
)
def test_a_call_holds_the_arguments(options, arguments):
    body = testing.build_call("orders", **options, id=7)

    assert body == testing.build_request("tools/call", {"name": "orders", "arguments": arguments}, id=7)


def test_a_call_is_of_an_action_or_of_arguments():
    with pytest.raises(TypeError, match="either arguments, or action and data"):
        testing.build_call("orders", {}, action="find")


def test_a_call_and_its_headers_are_taken_as_they_are(post):
    body = testing.build_call("orders", action="find", data={"number": "A1"})

    assert post(body) == result(text('{"number":"A1","for":""}'))


@pytest.mark.parametrize("method", ["server/discover", "tools/list"])
def test_so_is_every_other_request(post, method):
    assert post(testing.build_request(method)).status == 200


@pytest.mark.parametrize("version", LEGACY)
def test_so_is_a_call_of_an_earlier_revision(post, version):
    body = testing.build_call("orders", action="afind", version=version)

    answer = post(body, version=version)

    assert testing.json(answer.body["result"]) == {"number": None, "version": version}


AWKWARD = [
    "",
    "plain",
    "two words",
    " padded",
    "padded\t",
    "é",
    "a\nb",
    "=?base64?eA==?=",
    "=?base64?",
    "\x7f",
]


@pytest.mark.parametrize("region", AWKWARD)
def test_mirrored_arguments_are_taken_whatever_they_hold(post, region):
    arguments = {"region": region, "count": -3, "dry": False, "inner": {"deep": region}}

    answer = post(testing.build_call("mirrored", arguments))

    assert testing.json(answer.body["result"]) == arguments


def test_a_mirrored_argument_has_a_header_where_it_has_a_value():
    with testing.served(*SHOP):
        body = testing.build_call("mirrored", {"region": "eu", "count": 3, "dry": True, "inner": 5})
        headers = testing.mirrored_headers(body)
        body = testing.build_call("mirrored", {"region": None, "inner": {"deep": "é"}})
        others = testing.mirrored_headers(body)

    common = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "mirrored",
    }
    assert headers == {**common, "Mcp-Param-Region": "eu", "Mcp-Param-Count": "3", "Mcp-Param-Dry": "true"}
    assert others == {**common, "Mcp-Param-Deep": "=?base64?w6k=?="}


def test_the_tool_is_the_one_of_the_server_named(settings):
    settings.DJANGO_MCP = {"SERVERS": {"other": {"EXCLUDE": ["mirrored"]}}}
    body = testing.build_call("mirrored", {"region": "eu"})
    with testing.served(*SHOP):
        assert "Mcp-Param-Region" in testing.mirrored_headers(body)
        assert "Mcp-Param-Region" not in testing.mirrored_headers(body, server="other")


@pytest.mark.parametrize("name", AWKWARD)
def test_a_name_is_mirrored_whatever_it_holds(post, name):
    answer = post(testing.build_call(name))

    assert answer.body["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("a b", "a b"),
        ("", ""),
        (" ", "=?base64?IA==?="),
        ("=?base64?x", "=?base64?PT9iYXNlNjQ/eA==?="),
        (5, "5"),
        (True, "true"),
        ([1], "[1]"),
    ],
)
def test_a_value_that_is_no_plain_header_is_wrapped(value, header):
    assert header_value(value) == header


def test_a_message_without_a_version_has_no_headers():
    assert testing.mirrored_headers({"jsonrpc": "2.0", "method": "notifications/initialized"}) == {}
