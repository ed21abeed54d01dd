"""A tool that asks, and what its questions look like on the wire."""

from __future__ import annotations

from typing import Any

from django_mcp import BaseTool
from tests.wire import META, SERVER_INFO, P, refused

FORMS = {**META, f"{P}clientCapabilities": {"elicitation": {}}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}

INVALID_STATE = refused(
    "dispatch",
    "invalid_request_state",
    400,
    -32602,
    "params.requestState is invalid or has expired; repeat the call without it.",
    data={"reason": "invalid_request_state"},
)


class Interview(BaseTool):
    """Asks for a name, then for an age."""

    name = "interview"
    input_schema = {"type": "object"}
    once: tuple[str, ...] = ()

    def run(self, arguments: Any, ctx: Any) -> Any:
        name = ctx.elicit("Who are you?", NAME, key="who", once="who" in self.once)
        if not name.accepted:
            return {"name": name.action, "content": name.content}
        age = ctx.elicit("How old?", AGE, key="age", once="age" in self.once)
        return {"name": name.content["name"], "age": age.content["age"]}


class AsyncInterview(Interview):
    async def run(self, arguments: Any, ctx: Any) -> Any:
        return super().run(arguments, ctx)


def asked(answer):
    """The input requests of an answer, and its state."""
    found = answer.body["result"]
    state = found.pop("requestState")
    requests = found.pop("inputRequests")
    assert (answer.status, found) == (200, {"resultType": "input_required", "_meta": SERVER_INFO})
    return requests, state


def accepted(**content):
    return {"action": "accept", "content": content}


def form(message, schema):
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }
