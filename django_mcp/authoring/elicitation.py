"""Asking the user in the middle of a call (MCP multi round-trip requests).

Nothing waits: the question ends the call, the client asks the user and repeats the call with the answer, and
the handler runs again from the start. What was answered before is at hand then, so the same lines go one
question further.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django_mcp.authoring.errors import ToolError
from django_mcp.schema.formats import Formats
from django_mcp.schema.values import ValueGate


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user did with a question: `content` holds the fields of an accepted form, else it is empty."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any]

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


class Interruption(BaseException):
    """Ends a call for a reason that is no failure.

    Not an Exception, so that a handler does not swallow it by accident.
    """


class InputRequired(Interruption):
    """The call needs input before it can go on: key to MCP input request."""

    def __init__(self, requests: Mapping[str, Any], *, once: bool = False) -> None:
        super().__init__(f"Input is required: {', '.join(requests)}")
        self.requests = requests
        self.once = once


class MissingCapability(Interruption):
    """The client did not declare a capability without which the call cannot be served (MCP -32021)."""

    def __init__(self, required: Mapping[str, Any]) -> None:
        super().__init__(f"The client lacks {sorted(required)}")
        self.required = required


class ElicitationUnsupported(ToolError):
    """The client cannot put this question to its user. A handler may catch it and do without."""

    def __init__(self, mode: str) -> None:
        super().__init__(f"the client cannot ask its user (it declared no elicitation of mode {mode})")


def declares(capabilities: Mapping[str, Any], required: Mapping[str, Any]) -> bool:
    """Whether a client's capabilities include all that is required, member by member."""
    for name, inner in required.items():
        declared = capabilities.get(name)
        if not isinstance(declared, Mapping) or not declares(declared, inner):
            return False
    return True


def can_elicit(capabilities: Mapping[str, Any], mode: str) -> bool:
    """Whether the client asks its user in this mode; an empty `elicitation` capability means forms only."""
    elicitation = capabilities.get("elicitation")
    if not isinstance(elicitation, Mapping):
        return False
    return mode in elicitation or (mode == "form" and not elicitation)


def read_answer(response: Any, schema: Mapping[str, Any] | None) -> Answer | None:
    """A client's response as an Answer, or None where it does not answer the question that was asked."""
    if not isinstance(response, Mapping) or response.get("action") not in ("accept", "decline", "cancel"):
        return None
    if response["action"] != "accept" or schema is None:
        return Answer(response["action"], {})
    content = response.get("content", {})
    if not ValueGate(dict(schema), Formats.of({})).is_valid(content):
        return None
    return Answer("accept", content)
