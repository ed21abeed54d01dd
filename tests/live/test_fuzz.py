"""Whatever is sent to a real server, the answer is JSON or empty and never a failure, and the server lives on."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.transports.http.test_fuzz import HEADERS, VALUES

pytestmark = pytest.mark.live

VERBS = st.sampled_from(["POST", "POST", "POST", "GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
BODIES = st.one_of(
    st.binary(max_size=300), VALUES.map(lambda value: json.dumps(value).encode()), st.just(b"[" * 300)
)
some = settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def sendable(headers):
    """What a client library lets out; a wrong Content-Length never gets past the HTTP server."""
    return {
        name: value
        for name, value in headers.items()
        if name != "Content-Length" and isinstance(value, str) and value.isprintable() and value.isascii()
    }


def exchange(endpoint, verb, body, headers):
    address = urlsplit(endpoint)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    try:
        connection.request(
            verb, address.path, body, {"Content-Type": "application/json", **sendable(headers)}
        )
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@some
@given(verb=VERBS, body=BODIES, headers=HEADERS)
def test_a_real_server_answers_whatever_is_sent(endpoint, verb, body, headers):
    status, answer = exchange(endpoint, verb, body, headers)
    assert status < 500
    assert answer == b"" or isinstance(json.loads(answer), dict)
