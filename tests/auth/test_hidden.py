"""What a caller may not use does not exist for it: every answer is, byte for byte, that of a site without it."""

from __future__ import annotations

import pytest

from django_mcp import BaseTool, Hint, Reply, Tool, testing

NEVER = {"permission": lambda ctx: False}
SECRET = {"description": "Secret work", "properties": {"p": {}}, "options": NEVER}


def tools(*, hidden):
    """The tools of a site, with or without what the caller may not use."""

    class Orders(Tool):
        """Orders."""

        actions = {
            "get": {
                "description": "Get",
                "properties": {"id": {"type": "integer"}},
                "required": ["id"],
                "related": ["secret", "list"],
            },
            "list": {"description": "List", "properties": {}},
            **({"secret": SECRET} if hidden else {}),
        }

        def run_action(self, action, data, ctx):
            return Reply({"done": action}, hint_context={})

        def hints(self, action, hint_context):
            return [
                Hint(tool="orders", action="secret", description="x"),
                Hint(tool="vault", action="open", description="x"),
                Hint(tool="safe", action="open", description="x"),
                Hint(tool="chest", action="open", description="x"),
                Hint(tool="orders", action="list", description="x"),
            ]

    class Vault(Tool):
        """A tool with a permission."""

        permission = staticmethod(lambda ctx: False)
        actions = {"open": {"description": "Open", "properties": {}}}

        def run_action(self, action, data, ctx):
            raise AssertionError("not for this caller")

    class Safe(Tool):
        """A tool of which every action has one."""

        actions = {"open": SECRET}

        def run_action(self, action, data, ctx):
            raise AssertionError("not for this caller")

    class Chest(BaseTool):
        """A hand-written tool with one, and with a mirrored argument."""

        permission = "no.such"
        input_schema = {
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        }

        def run(self, arguments, ctx):
            raise AssertionError("not for this caller")

    return [Orders, Vault, Safe, Chest] if hidden else [Orders]


def call(tool, arguments):
    return ("tools/call", {"name": tool, "arguments": arguments})


REQUESTS = [
    ("tools/list", {}),
    call("help", {}),
    call("help", {"tool": "orders"}),
    call("help", {"tool": "orders", "action": "get"}),
    call("help", {"tool": "orders", "action": "secret"}),
    call("help", {"tool": "orders", "action": "secert"}),
    *(call("help", {"tool": tool}) for tool in ("vault", "safe", "chest", "valut", "ches")),
    call("help", {"tool": "vault", "action": "open"}),
    call("help", {"action": "open"}),
    *(call("orders", {"action": action}) for action in ("secret", "secert", "list", "get")),
    call("orders", {"action": "secret", "data": {"q": 1}}),
    call("orders", {"action": "secret", "data": []}),
    call("orders", {"action": "get", "data": {"id": "x"}}),
    call("orders", {"action": "get", "data": {"id": 1}}),
    call("orders", {}),
    *(call(tool, {"action": "open"}) for tool in ("vault", "safe", "chest")),
    call("chest", {"region": "eu"}),
    call("vault", {"zzz": 1}),
]


@pytest.mark.parametrize(("method", "params"), REQUESTS, ids=lambda value: str(value)[:60])
def test_an_answer_is_the_same_as_if_it_were_not_there(wire, method, params):
    answers = []
    for hidden in (True, False):
        with testing.served(*tools(hidden=hidden)):
            answers.append(wire.modern(method, params))
    assert answers[0] == answers[1]
    assert "Secret" not in str(answers[0].body)
