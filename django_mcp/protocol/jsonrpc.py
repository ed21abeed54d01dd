from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from django_mcp.authoring.elicitation import MissingCapability
from django_mcp.encoding import codec

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

#: The largest integer that every JSON implementation keeps exact.
MAX_ID: Final = 2**53 - 1


class _NoId(enum.Enum):
    NO_ID = "no id"


#: Stands for an id that cannot be read; the answer then has no `id` member (MCP schema).
NO_ID: Final = _NoId.NO_ID

Id = str | int | float | Literal[_NoId.NO_ID]


class ProtocolError(Exception):
    """A request answered with a JSON-RPC error. `status` is the HTTP status of a modern answer."""

    def __init__(
        self, status: int, code: int, reason: str, message: str, data: Any = None, request_id: Id = NO_ID
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.reason = reason
        self.message = message
        self.data = data
        self.request_id = request_id


class Message:
    """One JSON-RPC message a client sent: a request, a response, else a notification."""

    # What is known only later, or of few messages, stands here until then.
    legacy = False
    version = ""
    meta: Mapping[str, Any] = MappingProxyType({})
    is_response = False
    #: Whether its params have the shape that its method asks for.
    is_checked = False

    def __init__(self, is_request: bool, request_id: Id, method: str, params: dict[str, Any]) -> None:
        self.is_request = is_request
        self.id = request_id
        self.method = method
        self.params = params


@dataclass(slots=True)
class Response:
    """What goes back: an HTTP status and the body; the rejection's reason where the request was refused."""

    status: int
    body: bytes
    code: int | None = None
    reason: str | None = None


#: Stands for the message of a request whose body has not been read.
UNREAD: Final = Message(False, NO_ID, "", {})
ACCEPTED: Final = Response(202, b"")


def classify(value: Any) -> Message:
    """The message a decoded body is (JSON-RPC 2.0 as MCP narrows it). Raises ProtocolError -32600."""
    if isinstance(value, list):
        raise _invalid("batch", "A batch is not accepted: send one JSON-RPC message a request.")
    if not isinstance(value, dict):
        raise _invalid("not_an_object", "The body must be a JSON-RPC message, which is a JSON object.")
    request_id = _id(value["id"]) if "id" in value else NO_ID
    method = value.get("method")
    if method is None and "method" not in value and ("result" in value or "error" in value):
        response = Message(False, request_id, "", {})
        response.is_response = True
        return response
    if value.get("jsonrpc") != "2.0":
        raise _invalid("jsonrpc_version", 'The member jsonrpc must be "2.0".', request_id)
    if not isinstance(method, str):
        raise _invalid("invalid_method", "The member method must be a string.", request_id)
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise _invalid("invalid_params_type", "The member params must be an object.", request_id)
    return Message(request_id is not NO_ID, request_id, method, params)


def _invalid(reason: str, message: str, request_id: Id = NO_ID) -> ProtocolError:
    return ProtocolError(400, INVALID_REQUEST, reason, message, request_id=request_id)


def _id(value: Any) -> Id:
    if isinstance(value, str) or (type(value) is int and -MAX_ID <= value <= MAX_ID):
        plain: str | int = value
        return plain
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_ID:
        return value
    raise _invalid("invalid_id", f"The member id must be a string or an integer within ±{MAX_ID}.")


def missing_capability(message: Message, missing: MissingCapability) -> ProtocolError:
    """The refusal of what the client's capabilities do not cover (MCP -32021)."""
    required = dict(missing.required)
    return ProtocolError(
        400,
        MISSING_CAPABILITY,
        "missing_capability",
        f"This call needs client capabilities that the request does not declare: {codec.text(required)}",
        {"requiredCapabilities": required},
        message.id,
    )


def result(request_id: Id, body: bytes) -> Response:
    """The success envelope around an encoded result."""
    return Response(200, b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (codec.encode(request_id), body))


def notification(method: str, params: Any) -> bytes:
    return codec.encode({"jsonrpc": "2.0", "method": method, "params": params})


def error(request_id: Id, code: int, message: str, data: Any = None) -> bytes:
    """The error envelope; without an id where none could be read."""
    described: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        described["data"] = data
    envelope: dict[str, Any] = {"jsonrpc": "2.0"}
    if request_id is not NO_ID:
        envelope["id"] = request_id
    envelope["error"] = described
    return codec.encode(envelope)
