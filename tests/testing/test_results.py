"""Reading answers: what is not as expected fails with the whole answer shown."""

from __future__ import annotations

import json

import pytest

from django_mcp import testing
from django_mcp.testing.results import read
from tests.testing.shop import SHOP


@pytest.fixture
def labels():
    with testing.served(*SHOP):
        yield lambda *kinds: testing.run_tool("labels", {"kinds": kinds})


@pytest.fixture
def failure():
    with testing.served(*SHOP):
        yield testing.run_tool("orders", action="find", data={"number": "none"})


@pytest.fixture
def refusal():
    with testing.served(*SHOP):
        yield testing.run_tool("orders", action="fnd")


def test_of_a_success(labels):
    assert testing.text(labels("text")) == "not JSON"
    assert testing.json(labels("json")) == {"a": 1}
    assert testing.image(labels("image")) == {"type": "image", "data": "aW1n", "mimeType": "image/png"}
    assert testing.audio(labels("audio")) == {"type": "audio", "data": "YXU=", "mimeType": "audio/wav"}


def test_of_structured_content():
    with testing.served(*SHOP):
        assert testing.structured(testing.run_tool("measured", {"a": 1})) == {"a": 1}


def test_of_an_error(failure, refusal):
    assert testing.error_text(failure) == "Operation failed: no such order"
    assert testing.error_json(refusal)["did_you_mean"] == {"fnd": "find"}


@pytest.mark.parametrize(
    ("helper", "expected"),
    [
        (testing.text, "a successful answer of one text block"),
        (testing.json, "a successful answer of one text block"),
        (testing.image, "a successful answer of one image block"),
        (testing.audio, "a successful answer of one audio block"),
        (testing.structured, "a successful answer with structured content"),
    ],
)
def test_a_success_is_expected(helper, expected, failure):
    shown(helper, failure, expected)


@pytest.mark.parametrize("helper", [testing.error_text, testing.error_json])
def test_an_error_is_expected(helper, labels):
    shown(helper, labels("json"), "an error of one text block")


@pytest.mark.parametrize("kinds", [(), ("text", "text"), ("image",)])
def test_one_block_of_the_kind_is_expected(labels, kinds):
    shown(testing.text, labels(*kinds), "a successful answer of one text block")


def test_json_is_expected(labels, failure):
    shown(testing.json, labels("text"), "JSON")
    shown(testing.error_json, failure, "JSON")


def test_structured_content_is_expected(labels):
    shown(testing.structured, labels("json"), "a successful answer with structured content")


def test_a_question_is_no_answer():
    with testing.served(*SHOP):
        asking = testing.run_tool(
            "interview", ctx=testing.build_context(capabilities={"elicitation": {"form": {}}})
        )
    for helper in (testing.text, testing.error_text, testing.structured):
        with pytest.raises(AssertionError, match="Who are you"):
            helper(asking)


def shown(helper, result, expected):
    with pytest.raises(AssertionError) as raised:
        helper(result)
    assert str(raised.value) == f"Expected {expected}, got {json.dumps(result, separators=(',', ':'))}"


def test_a_refused_request_is_raised():
    error = {"code": -32602, "message": "No.", "data": {"reason": "r"}}
    with pytest.raises(testing.JSONRPCError) as raised:
        read(400, json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode())

    refused = raised.value
    assert (refused.status, refused.code, refused.message, refused.data) == (
        400,
        -32602,
        "No.",
        {"reason": "r"},
    )
    assert str(refused) == f"HTTP 400, {json.dumps(error, separators=(',', ':'))}"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}"])
def test_what_is_no_response_is_shown(body):
    with pytest.raises(AssertionError) as raised:
        read(404, body)

    assert str(raised.value) == f"HTTP 404 without a JSON-RPC response: {body!r}"


def test_of_a_long_page_the_beginning_is_shown():
    with pytest.raises(AssertionError) as raised:
        read(400, b"x" * 1001)

    assert str(raised.value) == f"HTTP 400 without a JSON-RPC response: {b'x' * 1000!r}"
