from __future__ import annotations

import pytest

from tests.wire import refused, result, text


def invalid(message):
    return refused("validate", "invalid_params", 400, -32602, message)


@pytest.mark.parametrize("arguments", [[], "text", 5, True, False, 0, ""])
def test_arguments_are_an_object(wire, arguments):
    answer = wire.modern("tools/call", {"name": "echo", "arguments": arguments})

    assert answer == invalid("params.arguments must be an object.")


@pytest.mark.parametrize("params", [{}, {"arguments": None}, {"arguments": {}}])
def test_no_arguments_are_an_empty_object(wire, params):
    assert wire.modern("tools/call", {"name": "echo", **params}) == result(text("{}"))


@pytest.mark.parametrize("responses", [None, [], 5, {"key": 12345}, {"key": None}, {"good": {}, "bad": []}])
def test_input_responses_are_an_object_of_result_objects(wire, responses):
    answer = wire.modern("tools/call", {"name": "echo", "inputResponses": responses})

    assert answer == invalid("params.inputResponses must be an object of result objects.")


def test_input_responses_nobody_asked_for_are_ignored(wire):
    answer = wire.modern("tools/call", {"name": "echo", "inputResponses": {"key": {"action": "accept"}}})

    assert answer == result(text("{}"))
