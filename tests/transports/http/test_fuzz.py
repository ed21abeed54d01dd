"""Whatever is sent, the answer is JSON or empty and no failure of the server."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wire import META, SERVED, P, implied, request

VERBS = st.sampled_from(["POST", "POST", "POST", "GET", "PUT", "DELETE", "OPTIONS", "HEAD", "QUERY"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
#: What a server lets through as a header value.
HEADER = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=40
)


def is_length(text):
    try:
        int(text)
    except ValueError:
        return False
    return True


# A length that is not the body's never gets past a real server, and Django's test clients fail on it.
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "Accept",
            "Authorization",
            "Content-Length",
            "Content-Type",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
            "Mcp-Param-Branch",
            "Origin",
            "X-Forwarded-Host",
        ]
    ),
    HEADER | st.sampled_from([*SERVED, "application/json", "tools/call", "echo"]),
    max_size=5,
).filter(lambda headers: not is_length(headers.get("Content-Length", "")))
PATHS = st.sampled_from(["", "", "", "/", "/x", "//", "/\n", "?cursor=1"])

once = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def is_sound(answer):
    failed = answer.mark is not None and answer.mark.code == -32603
    return answer.status < 500 and not failed and (answer.body is None or isinstance(answer.body, dict))


@once
@given(verb=VERBS, path=PATHS, body=st.binary(max_size=200), headers=HEADERS)
def test_any_bytes_are_answered(wire, verb, path, body, headers):
    assert is_sound(wire.send(verb, wire.mount + path, body, headers))


@once
@given(value=VALUES, headers=HEADERS)
def test_any_json_is_answered(wire, value, headers):
    assert is_sound(wire.send(body=json.dumps(value).encode(), headers=headers))


@once
@given(
    method=st.sampled_from(["server/discover", "tools/list", "tools/call", "initialize", "ping"])
    | st.text(max_size=20),
    params=st.dictionaries(
        st.sampled_from(["name", "arguments", "cursor", "inputResponses", "requestState", "protocolVersion"]),
        VALUES | st.just("echo"),
    ),
    meta=st.dictionaries(st.sampled_from([*META, f"{P}clientInfo", f"{P}logLevel", "progressToken"]), VALUES)
    | st.just(META),
    id=VALUES,
    headers=HEADERS,
)
@pytest.mark.parametrize("mirrored", [True, False])
def test_any_params_are_answered(wire, mirrored, method, params, meta, id, headers):
    value = request(method, params, id=id, meta=meta)
    if mirrored and method.isascii() and method.isprintable() and isinstance(params.get("name", ""), str):
        headers = {**implied(value), **headers}
        headers["Mcp-Name"] = "echo"
    assert is_sound(wire.send(body=json.dumps(value).encode(), headers=headers))
