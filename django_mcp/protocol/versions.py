"""Which revisions are served, and which one a request speaks."""

from __future__ import annotations

from typing import Any, Final

from django_mcp.conf import ServerSettings
from django_mcp.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    Message,
    ProtocolError,
)
from django_mcp.schema import bound

MODERN: Final = "2026-07-28"
#: What a legacy request without a version header is taken to speak (MCP 2025-03-26 and later).
ASSUMED: Final = "2025-03-26"

PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"

#: Methods whose params name something, which the header Mcp-Name repeats, and the member that does.
NAMED: Final = {
    "tools/call": "name",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}

_LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def served(settings: ServerSettings) -> list[str]:
    """The revisions a server speaks, newest first: the one list behind discover and every error."""
    return [MODERN, *sorted(settings.legacy_versions, reverse=True)]


def is_modern(message: Message) -> bool:
    """Whether the body itself says that it is of a revision from 2026-07-28 on."""
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and PROTOCOL_VERSION in meta


def choose_era(message: Message, header: str | None, settings: ServerSettings) -> None:
    """Decide which revision a message speaks and note it there. Raises ProtocolError where it speaks none.

    The body decides, with one departure: with LENIENT_VERSION_HEADER a header that names a served legacy
    revision wins over a modern `_meta`, as a widely used connector sends exactly that.
    """
    meta = message.params.get("_meta")
    modern_body = False
    if isinstance(meta, dict):
        message.meta = meta
        modern_body = PROTOCOL_VERSION in meta
    legacy_header = header is not None and header in settings.legacy_versions
    if message.is_response:
        _accept_response(message, header, legacy_header)
    elif legacy_header and (not modern_body or settings.lenient_version_header):
        message.legacy, message.version = True, str(header)
    elif modern_body or header == MODERN or not message.is_request:
        message.version = MODERN
    elif header is not None:
        raise unsupported(message, header, settings)
    elif message.method == "initialize":
        if not settings.legacy_versions:
            raise unsupported(message, message.params.get("protocolVersion"), settings)
        message.legacy, message.version = True, max(settings.legacy_versions)
    elif ASSUMED in settings.legacy_versions:
        message.legacy, message.version = True, ASSUMED
    else:
        text = f"The header MCP-Protocol-Version is missing; it names one of {', '.join(served(settings))}."
        raise mismatch(message, text)


def _accept_response(message: Message, header: str | None, legacy_header: bool) -> None:
    """A client answers no request here: legacy clients' responses are dropped, others' refused."""
    if not legacy_header:
        text = "The server sends no requests, so it takes no responses."
        raise ProtocolError(400, INVALID_REQUEST, "posted_response", text)
    message.legacy, message.version = True, str(header)


def agreed(message: Message, settings: ServerSettings) -> str:
    """The revision that a handshake ends with: the client's, else the newest there is for it."""
    requested = message.params.get("protocolVersion")
    return requested if requested in settings.legacy_versions else max(settings.legacy_versions)


def unsupported(message: Message, requested: Any, settings: ServerSettings) -> ProtocolError:
    """The answer to a revision that is not served (MCP -32022)."""
    supported = served(settings)
    requested = requested if isinstance(requested, str) else ""
    return ProtocolError(
        400,
        UNSUPPORTED_VERSION,
        "unsupported_version",
        f"Unsupported protocol version {bound.echo(requested)!r}; supported are {', '.join(supported)}.",
        {"supported": supported, "requested": bound.echo(requested)},
        message.id,
    )


def check_fields(message: Message) -> None:
    """Presence and types of a modern request's protocol fields (MCP basic). Raises ProtocolError -32602."""
    problem = _fields_problem(message)
    if problem is not None:
        raise ProtocolError(400, INVALID_PARAMS, "invalid_fields", f"{problem}.", request_id=message.id)


def _fields_problem(message: Message) -> str | None:
    meta = message.params.get("_meta")
    if not isinstance(meta, dict):
        return f"params._meta must be an object with {PROTOCOL_VERSION} and {CLIENT_CAPABILITIES}"
    if PROTOCOL_VERSION not in meta or CLIENT_CAPABILITIES not in meta:
        missing = [key for key in (PROTOCOL_VERSION, CLIENT_CAPABILITIES) if key not in meta]
        return f"params._meta lacks {' and '.join(missing)}"
    if not isinstance(meta[PROTOCOL_VERSION], str):
        return f"params._meta {PROTOCOL_VERSION} must be a string"
    if not isinstance(meta[CLIENT_CAPABILITIES], dict):
        return f"params._meta {CLIENT_CAPABILITIES} must be an object"
    if CLIENT_INFO in meta and not _is_implementation(meta[CLIENT_INFO]):
        return f"params._meta {CLIENT_INFO} must be an object with the strings name and version"
    if LOG_LEVEL in meta and meta[LOG_LEVEL] not in _LOG_LEVELS:
        return f"params._meta {LOG_LEVEL} must be one of {', '.join(_LOG_LEVELS)}"
    if "progressToken" in meta and not is_token(meta["progressToken"]):
        return "params._meta progressToken must be a string or an integer"
    named = NAMED.get(message.method)
    if named is not None and not isinstance(message.params.get(named), str):
        return f"params.{named} must be a string that names a {'tool' if named == 'name' else 'task'}"
    return None


def is_token(value: Any) -> bool:
    """Whether a value is a progress token (MCP `ProgressToken`)."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _is_implementation(info: Any) -> bool:
    if not isinstance(info, dict):
        return False
    return isinstance(info.get("name"), str) and isinstance(info.get("version"), str)


def check_version(message: Message, settings: ServerSettings) -> None:
    """Whether a modern request's revision is served. Raises ProtocolError -32022."""
    requested = message.meta[PROTOCOL_VERSION]
    if requested != MODERN:
        raise unsupported(message, requested, settings)


def mismatch(message: Message, text: str) -> ProtocolError:
    """A header that does not mirror the body (MCP -32020)."""
    return ProtocolError(400, HEADER_MISMATCH, "header_mismatch", text, request_id=message.id)
