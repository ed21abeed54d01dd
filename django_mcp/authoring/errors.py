from __future__ import annotations

from typing import Any, Literal

from django.core.exceptions import ImproperlyConfigured

from django_mcp.authoring.reply import OMITTED

ErrorKind = Literal["dispatch", "tool"]


class ConfigurationError(ImproperlyConfigured):
    """A tool or a setting is declared in a way that is never served.

    `tool` names the tool (or the setting's owner), `callback` the attribute or method at fault. The same
    offence is a system check error in `manage.py check`.
    """

    def __init__(self, tool: str, callback: str, message: str) -> None:
        super().__init__(message)
        self.tool = tool
        self.callback = callback
        self.message = message


class ToolError(Exception):
    """Raised by a handler to answer the caller with an error it can act on (`isError`, MCP server/tools).

    `reason` goes through the tool's `handle_error`. With a `hint_context` (an empty one counts) the answer is
    JSON with the error, the tool's hints and its context; without, it is the plain text. What the handler
    wrote to a database with `ATOMIC_REQUESTS` is rolled back. `kind="dispatch"` marks a hand-written tool's
    own refusal of its arguments.
    """

    def __init__(self, reason: Any, *, hint_context: Any = OMITTED, kind: ErrorKind = "tool") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint_context = hint_context
        self.kind = kind
