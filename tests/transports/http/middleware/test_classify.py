from __future__ import annotations

import pytest

from tests.wire import ABSENT, META, implied, refused, request, result, text

CALL = request("tools/call", {"name": "echo"})
SERVED = text("{}")


def send(wire, value):
    return wire.post(value, implied(CALL))


def invalid(reason, message, id=ABSENT):
    return refused("classify", reason, 400, -32600, message, id=id)


@pytest.mark.parametrize("value", [[], [CALL], [CALL, CALL]])
@pytest.mark.parametrize("version", ["2026-07-28", "2025-03-26"])
def test_a_batch_is_refused_in_every_revision(wire, value, version):
    answer = wire.post(value, {"MCP-Protocol-Version": version})

    assert answer == invalid("batch", "A batch is not accepted: send one JSON-RPC message a request.")


@pytest.mark.parametrize("value", ["text", 5, None, True])
def test_what_is_no_object_is_refused(wire, value):
    message = "The body must be a JSON-RPC message, which is a JSON object."

    assert send(wire, value) == invalid("not_an_object", message)


@pytest.mark.parametrize("id", ["", "abc", 0, 7, -3, 9007199254740991, -9007199254740991, 1.0, 1e3])
def test_strings_and_integers_are_ids_and_come_back_as_sent(wire, id):
    answer = send(wire, {**CALL, "id": id})

    assert answer == result(SERVED, id=id)
    assert type(answer.body["id"]) is type(id)


@pytest.mark.parametrize("id", [None, True, False, 1.5, {}, [], 9007199254740992, -9007199254740992, 1e300])
def test_no_other_id_is_accepted(wire, id):
    message = "The member id must be a string or an integer within ±9007199254740991."

    assert send(wire, {**CALL, "id": id}) == invalid("invalid_id", message)


def test_a_bad_id_is_found_before_anything_else_about_the_message(wire):
    message = "The member id must be a string or an integer within ±9007199254740991."

    assert send(wire, {"jsonrpc": "1.0", "id": None, "method": 5}) == invalid("invalid_id", message)


@pytest.mark.parametrize(
    ("change", "reason", "message"),
    [
        ({"jsonrpc": "1.0"}, "jsonrpc_version", 'The member jsonrpc must be "2.0".'),
        ({"jsonrpc": 2.0}, "jsonrpc_version", 'The member jsonrpc must be "2.0".'),
        ({"jsonrpc": ABSENT}, "jsonrpc_version", 'The member jsonrpc must be "2.0".'),
        ({"method": 5}, "invalid_method", "The member method must be a string."),
        ({"method": None}, "invalid_method", "The member method must be a string."),
        ({"method": ABSENT}, "invalid_method", "The member method must be a string."),
        ({"params": []}, "invalid_params_type", "The member params must be an object."),
        ({"params": None}, "invalid_params_type", "The member params must be an object."),
    ],
)
def test_a_malformed_request_keeps_its_id(wire, change, reason, message):
    value = {key: member for key, member in {**CALL, **change}.items() if member is not ABSENT}

    assert send(wire, value) == invalid(reason, message, id=1)


def test_a_malformed_notification_is_refused_without_an_id(wire):
    value = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}

    assert send(wire, value) == invalid("invalid_params_type", "The member params must be an object.")


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "tools/call", "unknown"]
)
@pytest.mark.parametrize(
    "params", [{}, {"params": {}}, {"params": {"_meta": META}}, {"params": {"requestId": 1}}]
)
@pytest.mark.parametrize("version", [ABSENT, "2026-07-28", "2025-11-25", "1999-01-01"])
def test_a_notification_is_accepted_and_answered_with_nothing(wire, method, params, version):
    answer = wire.post({"jsonrpc": "2.0", "method": method, **params}, {"MCP-Protocol-Version": version})

    assert (answer.status, answer.body, answer.mark) == (202, None, None)


@pytest.mark.parametrize("member", [{"result": {}}, {"error": {"code": 1, "message": "no"}}])
def test_a_posted_response_is_refused_under_no_id(wire, member):
    answer = wire.post({"jsonrpc": "2.0", "id": 1, **member}, {"MCP-Protocol-Version": "2026-07-28"})

    message = "The server sends no requests, so it takes no responses."
    assert answer == refused("fields", "posted_response", 400, -32600, message, id=ABSENT)


def test_a_posted_response_of_a_legacy_client_is_dropped(wire):
    answer = wire.post({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": "2025-11-25"})

    assert (answer.status, answer.body, answer.mark) == (202, None, None)
