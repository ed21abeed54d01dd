"""Progress as a client reads it (MCP progress)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django_mcp.authoring.progress import Reporter
from django_mcp.encoding.normalise import normalise
from django_mcp.protocol import versions
from django_mcp.protocol.jsonrpc import Message, notification

Notify = Callable[[bytes], None]


def token(message: Message) -> str | int | None:
    """What a client wants to hear of a request's progress under; None where it does not."""
    found = message.meta.get("progressToken")
    return found if versions.is_token(found) else None


def reporter(message: Message, notify: Notify) -> Reporter | None:
    """What sends a request's progress, if the client wants it."""
    found = token(message)
    if found is None:
        return None

    def send(progress: float, total: float | None, text: str | None) -> None:
        stated = {"progressToken": found, "progress": progress, "total": total, "message": text}
        params: dict[str, Any] = {key: value for key, value in stated.items() if value is not None}
        notify(notification("notifications/progress", normalise(params)))

    return Reporter(send)
