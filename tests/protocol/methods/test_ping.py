from __future__ import annotations

import pytest

from tests.wire import Answer, refused


@pytest.mark.parametrize("method", ["ping", "logging/setLevel"])
def test_the_answer_of_a_legacy_formality_is_exactly_empty(wire, method):
    assert wire.legacy(method, {"level": "info"}) == Answer(200, {"jsonrpc": "2.0", "id": 1, "result": {}})


@pytest.mark.parametrize("method", ["server/discover", "resources/list", "unknown"])
def test_an_unknown_method_is_told_to_a_legacy_client_at_200(wire, method):
    message = f"Method not found: {method}"

    assert wire.legacy(method) == refused("dispatch", "method_not_found", 200, -32601, message)
