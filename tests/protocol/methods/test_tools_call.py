from __future__ import annotations

import pytest

from django_mcp import BaseTool, testing
from tests.wire import ABSENT, Answer, refused, result, text

UNKNOWN = "Unknown tool: {} Call tools/list or the help tool for the tools there are."


class Typed(BaseTool):
    """Answers structured content of any kind."""

    name = "typed"
    input_schema = {"type": "object"}
    output_schema = {}

    def run(self, arguments, ctx):
        return arguments["value"]


class Blocks(BaseTool):
    """Answers a text and a link."""

    name = "blocks"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return ctx.text("see") + ctx.resource_link("orders://1", "Order 1")


class Faulty(BaseTool):
    """Crashes."""

    name = "faulty"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        raise RuntimeError("the secret is 42")


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_an_unknown_tool_is_a_protocol_error_that_names_it(wire, era):
    answer = getattr(wire, era)("tools/call", {"name": "eccho"})

    assert answer == refused(
        "dispatch", "unknown_tool", 200, -32602, UNKNOWN.format("eccho. Did you mean echo?")
    )


def test_its_name_is_quoted_bounded(wire):
    answer = wire.modern("tools/call", {"name": "x" * 300})

    message = UNKNOWN.format("x" * 200 + "… (300 characters).")
    assert answer == refused("dispatch", "unknown_tool", 200, -32602, message)


@pytest.mark.parametrize("value", [{"n": 1}, [1, 2], "text", 5, False, None])
def test_structured_content_is_any_json(wire, value):
    with testing.served(Typed):
        answer = wire.modern("tools/call", {"name": "typed", "arguments": {"value": value}})

    assert answer.body["result"]["structuredContent"] == value


def test_the_meta_of_a_result_and_the_server_s_are_merged(wire, settings):
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}
    body = (
        '{"errorType":"tool_fault","tool":"faulty","exception":"RuntimeError","message":"the secret is 42"}'
    )
    meta = {"django_mcp.error": "error", "django_mcp.retryable": False}
    with testing.served(Faulty):
        answer = wire.modern("tools/call", {"name": "faulty"})

    assert answer == result(text(body, is_error=True, meta=meta))


class TestLegacyShape:
    def test_a_result_has_no_stamps(self, wire):
        answer = wire.legacy("tools/call", {"name": "echo", "arguments": {"a": 1}})

        assert answer == Answer(200, {"jsonrpc": "2.0", "id": 1, "result": text('{"a":1}')})

    def test_an_error_keeps_its_meta(self, wire):
        with testing.served(Faulty):
            answer = wire.legacy("tools/call", {"name": "faulty"})

        meta = {"django_mcp.error": "error", "django_mcp.retryable": False}
        assert (answer.body["result"]["isError"], answer.body["result"]["_meta"]) == (True, meta)

    @pytest.mark.parametrize("value", [{"n": 1}, [1, 2], 5, None])
    def test_structured_content_is_an_object_or_left_out(self, wire, value):
        with testing.served(Typed):
            answer = wire.legacy("tools/call", {"name": "typed", "arguments": {"value": value}})

        assert answer.body["result"].get("structuredContent", ABSENT) == (
            value if isinstance(value, dict) else ABSENT
        )

    @pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
    def test_a_link_is_a_link(self, wire, version):
        with testing.served(Blocks):
            answer = wire.legacy("tools/call", {"name": "blocks"}, version=version)

        link = {"type": "resource_link", "uri": "orders://1", "name": "Order 1"}
        assert answer.body["result"]["content"] == [{"type": "text", "text": "see"}, link]

    def test_and_text_to_clients_from_before_there_were_links(self, wire):
        with testing.served(Blocks):
            answer = wire.legacy("tools/call", {"name": "blocks"}, version="2025-03-26")

        link = {"type": "text", "text": "Order 1: orders://1"}
        assert answer.body["result"]["content"] == [{"type": "text", "text": "see"}, link]

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "params.name must be a string that names a tool."),
            ({"name": 5}, "params.name must be a string that names a tool."),
            ({"name": "echo", "arguments": []}, "params.arguments must be an object."),
        ],
    )
    def test_malformed_params_are_refused_at_200(self, wire, params, message):
        answer = wire.legacy("tools/call", params)

        assert answer == refused("dispatch", "invalid_params", 200, -32602, message)
