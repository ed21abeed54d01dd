"""Asking the user in the middle of a call (MCP multi round-trip requests).

Nothing waits: the question ends the call, the client asks the user and repeats the call with the answer, and
the handler runs again from the start. What was answered before is at hand then, so the same lines go one
question further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from django_mcp.authoring.errors import ToolError
from django_mcp.authoring.forms import Form
from django_mcp.schema import bound


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

    def __init__(self, requests: Mapping[str, Any]) -> None:
        super().__init__(f"Input is required: {', '.join(requests)}")
        self.requests = requests


class MissingCapability(Interruption):
    """The client did not declare a capability without which the call cannot be served (MCP -32021)."""

    def __init__(self, required: Mapping[str, Any]) -> None:
        super().__init__(f"The client lacks {', '.join(_dotted(required))}")
        self.required = required


class InputUnsupported(ToolError):
    """The client cannot be asked for this. A handler may catch it, as a ToolError, and do without."""

    def __init__(self, required: Mapping[str, Any]) -> None:
        names = ", ".join(_dotted(required))
        super().__init__(
            f"the client cannot be asked for this: its request declares no capability {names}. "
            "Do not call again; tell the user that it takes another client."
        )


def _dotted(required: Mapping[str, Any]) -> Iterator[str]:
    """The innermost capabilities of a nest of them: `{"elicitation": {"url": {}}}` is `elicitation.url`."""
    for name, inner in required.items():
        if inner:
            yield from (f"{name}.{rest}" for rest in _dotted(inner))
        else:
            yield name


def declares(capabilities: Mapping[str, Any], required: Mapping[str, Any]) -> bool:
    """Whether a client's capabilities include all that is required, member by member."""
    if capabilities.get("elicitation") == {}:
        # Declared without a mode, it means forms.
        capabilities = {**capabilities, "elicitation": {"form": {}}}
    return _includes(capabilities, required)


def _includes(declared: Any, required: Mapping[str, Any]) -> bool:
    return isinstance(declared, Mapping) and all(
        name in declared and _includes(declared[name], inner) for name, inner in required.items()
    )


def needed(request: Mapping[str, Any]) -> dict[str, Any]:
    """The client capabilities that an input request takes. Raises ValueError for what MCP does not send."""
    method, params = request.get("method"), request.get("params", {})
    if method == "elicitation/create":
        return {"elicitation": {params.get("mode", "form"): {}}}
    if method == "sampling/createMessage":
        inner: dict[str, Any] = {"tools": {}} if "tools" in params or "toolChoice" in params else {}
        if params.get("includeContext", "none") != "none":
            inner["context"] = {}
        return {"sampling": inner}
    if method == "roots/list":
        return {"roots": {}}
    raise ValueError(f"{bound.render(method)!r} is no method of an input request.")


def check_url(url: str) -> None:
    """Raise ValueError for what is no address of a web page."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError(f"{bound.render(url)!r} is no absolute URL of a web page.")


def read_answer(response: Any, form: Form | None) -> Answer | None:
    """A client's response as an Answer, or None where it does not answer the question that was asked."""
    if not isinstance(response, Mapping) or response.get("action") not in ("accept", "decline", "cancel"):
        return None
    if response["action"] != "accept" or form is None:
        return Answer(response["action"], {})
    content = form.read(response.get("content", {}))
    return None if content is None else Answer("accept", content)
