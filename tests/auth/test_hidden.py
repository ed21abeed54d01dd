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


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize(("method", "params"), REQUESTS, ids=lambda value: str(value)[:60])
def test_an_answer_is_the_same_as_if_it_were_not_there(wire, era, method, params):
    answers = []
    for hidden in (True, False):
        with testing.served(*tools(hidden=hidden)):
            answers.append(getattr(wire, era)(method, params))
    assert answers[0] == answers[1]
    assert answers[0].content == answers[1].content
    assert b"Secret" not in answers[0].content


def test_only_the_name_sent_tells_a_hidden_one_from_a_misspelt_one(wire):
    """On one and the same site: what is asked for is echoed, and nothing else differs."""
    with testing.served(*tools(hidden=True)):
        for hidden, absent, request in (
            ("vault", "vapor", lambda name: call(name, {"action": "open"})),
            ("safe", "sofa", lambda name: call(name, {})),
            ("chest", "crypt", lambda name: call(name, {"region": "eu"})),
            ("vault", "vapor", lambda name: call("help", {"tool": name})),
            ("vault", "vapor", lambda name: call("help", {"tool": name, "action": "open"})),
            ("secret", "sacred", lambda name: call("help", {"tool": "orders", "action": name})),
            ("secret", "sacred", lambda name: call("orders", {"action": name, "data": {"q": 1}})),
        ):
            known, unknown = (wire.modern(*request(name)) for name in (hidden, absent))
            assert known.content == unknown.content.replace(absent.encode(), hidden.encode())
            assert (known.status, known.mark) == (unknown.status, unknown.mark)


def test_what_is_hidden_from_one_caller_is_there_for_another(wire, settings):
    """Built answers are kept, but never for a caller with other permissions."""
    settings.DJANGO_MCP = {"AUTH": f"{__name__}.by_header"}
    actions = {"clerk": ["read"], "chief": ["close", "read"]}
    listed = {}
    with testing.served(Ledger):
        for role in ("clerk", "chief", "clerk"):
            answer = wire.modern("tools/list", headers={"X-Role": role})
            schema = answer.body["result"]["tools"][0]["inputSchema"]
            assert listed.setdefault(role, answer.content) == answer.content
            assert schema["properties"]["action"]["enum"] == actions[role]


class Ledger(Tool):
    """The ledger."""

    actions = {
        "read": {"description": "Read", "properties": {}},
        "close": {
            "description": "Close",
            "properties": {},
            "options": {"permission": lambda ctx: ctx.assigns["role"] == "chief"},
        },
    }

    def run_action(self, action, data, ctx):
        return {"done": action}


def by_header(request):
    request.mcp_assigns["role"] = request.META["HTTP_X_ROLE"]
