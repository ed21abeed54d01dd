from __future__ import annotations

import json

import pytest
from django.http import HttpRequest
from django.http.request import UnreadablePostError

from tests.wire import ABSENT, implied, refused, request, result, text

SERVED = result(text("{}"))
CALL = request("tools/call", {"name": "echo"})


def send(wire, body, **headers):
    return wire.send(body=body, headers={**implied(CALL), **headers})


def body(value=CALL):
    return json.dumps(value).encode()


def refusal(reason, status, code, message):
    return refused("body", reason, status, code, message, id=ABSENT)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/json;x=y;charset=nonsense",
    ],
)
def test_json_is_taken_whatever_its_parameters_and_case(wire, content_type):
    assert send(wire, body(), **{"Content-Type": content_type}) == SERVED


@pytest.mark.parametrize(
    ("content_type", "shown"),
    [
        ("text/plain", "text/plain"),
        ("application/json-rpc", "application/json-rpc"),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded"),
        ("multipart/form-data; boundary=x", "multipart/form-data"),
        (ABSENT, "none"),
    ],
)
def test_another_content_type_is_refused(wire, content_type, shown):
    message = f"The Content-Type must be application/json; it is {shown}."
    answer = send(wire, body(), **{"Content-Type": content_type})

    assert answer == refusal("content_type", 415, -32600, message)


@pytest.mark.parametrize(
    "accept",
    [
        ABSENT,
        "",
        "*/*",
        "application/*",
        "application/json",
        "text/html, APPLICATION/JSON;q=0.5",
        "text/html,*/*;q=0.1",
    ],
)
def test_a_client_that_takes_json_is_served(wire, accept):
    assert send(wire, body(), Accept=accept) == SERVED


@pytest.mark.parametrize("accept", ["text/event-stream", "text/*", "application/json-seq", ","])
def test_a_client_that_takes_no_json_is_refused(wire, accept):
    message = f"The answer is application/json, which Accept does not allow: {accept}"

    assert send(wire, body(), Accept=accept) == refusal("not_acceptable", 406, -32600, message)


class TestSize:
    MESSAGE = "The body is larger than {} bytes; send less in a call."

    def test_a_body_of_exactly_the_limit_is_served(self, wire, settings):
        settings.DJANGO_MCP = {"MAX_BODY_BYTES": len(body())}

        assert send(wire, body()) == SERVED

    def test_one_byte_more_is_refused(self, wire, settings):
        limit = len(body()) - 1
        settings.DJANGO_MCP = {"MAX_BODY_BYTES": limit}

        assert send(wire, body()) == refusal("too_large", 413, -32600, self.MESSAGE.format(limit))

    def test_a_declared_length_is_believed_before_anything_is_read(self, wire, monkeypatch):
        monkeypatch.setattr(HttpRequest, "read", lambda self, size: pytest.fail("was read"))

        answer = send(wire, b"", **{"Content-Length": "5000000"})

        assert answer == refusal("too_large", 413, -32600, self.MESSAGE.format(4194304))

    def test_a_length_that_is_a_lie_is_found_when_reading(self, wire, settings, monkeypatch):
        settings.DJANGO_MCP = {"MAX_BODY_BYTES": 10}
        monkeypatch.setattr(HttpRequest, "read", lambda self, size: b"x" * size)

        answer = send(wire, b"", **{"Content-Length": "5"})

        assert answer == refusal("too_large", 413, -32600, self.MESSAGE.format(10))

    def test_a_length_of_thousands_of_digits_is_a_length(self, wire):
        answer = send(wire, b"", **{"Content-Length": "9" * 5000})

        assert answer == refusal("too_large", 413, -32600, self.MESSAGE.format(4194304))

    def test_the_site_s_limit_for_forms_does_not_apply(self, wire, settings):
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10

        assert send(wire, body()) == SERVED


def test_a_body_that_breaks_off_is_refused(wire, monkeypatch):
    def read(self, size):
        raise UnreadablePostError("gone")

    monkeypatch.setattr(HttpRequest, "read", read)
    message = "The body ended before it was complete."

    assert send(wire, body()) == refusal("unreadable", 400, -32600, message)


def test_more_json_values_than_allowed_are_refused(wire, settings):
    settings.DJANGO_MCP = {"MAX_JSON_VALUES": 20}
    message = "The body holds more than 20 JSON values; send fewer in a call."

    answer = send(wire, body(request("tools/call", {"name": "echo", "arguments": {"items": [0] * 20}})))

    assert answer == refusal("too_many_values", 413, -32600, message)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"", "The body is empty; a JSON text was expected."),
        (b'{"jsonrpc": "2.0",', "The body is not JSON: EOF while parsing a value at line 1 column 18."),
        (b"\xff", "The body is not UTF-8: invalid byte at offset 0."),
        (b"[" * 300 + b"]" * 300, "The JSON is nested more than 200 levels deep."),
        (b'{"id": NaN}', "The JSON holds NaN or Infinity, which JSON does not have."),
        (b'{"id": 1e400}', "The JSON holds a number too large for a double."),
        (b"1" * 5000, "The JSON holds an integer of more than 4,300 digits."),
        (b'"\\ud800"', "The JSON escapes half of a surrogate pair alone."),
        (b"\xef\xbb\xbf{}", "The JSON starts with a byte order mark."),
    ],
    ids=[
        "empty",
        "truncated",
        "latin-1",
        "deep",
        "NaN",
        "infinite",
        "huge integer",
        "lone surrogate",
        "mark",
    ],
)
def test_what_is_no_json_is_a_parse_error_without_an_id(wire, sent, message):
    assert send(wire, sent) == refusal("parse_error", 400, -32700, message)


def test_integers_beyond_a_double_arrive_exactly(wire):
    value = request("tools/call", {"name": "echo", "arguments": {"n": 12345678901234567890123}})

    assert send(wire, body(value)) == result(text('{"n":12345678901234567890123}'))
