"""Reading what a call answered. Every helper fails with the whole answer shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django_mcp.encoding import codec

#: How much is shown of what is no answer: a page of Django's that explains an error is long.
_SHOWN = 1000


class JSONRPCError(AssertionError):
    """A refused request: `status` is HTTP's, `code`, `message` and `data` are the JSON-RPC error's."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status = status
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")
        super().__init__(f"HTTP {status}, {codec.text(dict(error))}")


def read(status: int, body: bytes) -> dict[str, Any]:
    """The result in a JSON-RPC response. Raises JSONRPCError, or AssertionError for what is no response."""
    try:
        answer = codec.decode(body)
    except codec.DecodeError:
        answer = None
    if isinstance(answer, dict) and "error" in answer:
        raise JSONRPCError(status, answer["error"])
    if not isinstance(answer, dict) or "result" not in answer:
        raise AssertionError(f"HTTP {status} without a JSON-RPC response: {body[:_SHOWN]!r}")
    result: dict[str, Any] = answer["result"]
    return result


def text(result: Mapping[str, Any]) -> str:
    """The text of a successful answer that is one text block."""
    return str(_only(result, "text", is_error=False)["text"])


def json(result: Mapping[str, Any]) -> Any:
    """The value that a successful answer's only text block has as JSON."""
    return _decoded(result, text(result))


def error_text(result: Mapping[str, Any]) -> str:
    """The text of an answer with `isError`."""
    return str(_only(result, "text", is_error=True)["text"])


def error_json(result: Mapping[str, Any]) -> Any:
    """The body of an answer with `isError` that is JSON, as the refusals before a handler are."""
    return _decoded(result, error_text(result))


def image(result: Mapping[str, Any]) -> dict[str, Any]:
    """The only block of a successful answer, an image: `data` in base64, `mimeType`."""
    return _only(result, "image", is_error=False)


def audio(result: Mapping[str, Any]) -> dict[str, Any]:
    """The only block of a successful answer, audio: `data` in base64, `mimeType`."""
    return _only(result, "audio", is_error=False)


def structured(result: Mapping[str, Any]) -> Any:
    """The structured content of a successful answer."""
    if result.get("isError") is not False or "structuredContent" not in result:
        raise _unexpected("a successful answer with structured content", result)
    return result["structuredContent"]


def _only(result: Mapping[str, Any], kind: str, *, is_error: bool) -> dict[str, Any]:
    content = result.get("content", ())
    if result.get("isError") is not is_error or len(content) != 1 or content[0]["type"] != kind:
        expected = "an error" if is_error else "a successful answer"
        raise _unexpected(f"{expected} of one {kind} block", result)
    block: dict[str, Any] = content[0]
    return block


def _decoded(result: Mapping[str, Any], text: str) -> Any:
    try:
        return codec.decode(text.encode())
    except codec.DecodeError:
        raise _unexpected("JSON", result) from None


def _unexpected(expected: str, result: Mapping[str, Any]) -> AssertionError:
    return AssertionError(f"Expected {expected}, got {codec.text(dict(result))}")
