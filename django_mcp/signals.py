"""What this package announces, as Django signals.

`EVENTS` is the catalogue: for every signal who sends it, when, and with which keyword arguments. No event
carries the arguments or the result of a call. Receivers may be functions or coroutine functions; one that
raises is logged (logger `django.dispatch`) and disturbs neither the call nor the other receivers. Nothing
happens where nobody listens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.dispatch import Signal

tool_started: Final = Signal()
tool_stopped: Final = Signal()
tool_failed: Final = Signal()
tool_cancelled: Final = Signal()
help_called: Final = Signal()
request_rejected: Final = Signal()
auth_rejected: Final = Signal()
auth_failed: Final = Signal()
attempt_retried: Final = Signal()
breaker_rejected: Final = Signal()
breaker_changed: Final = Signal()
call_degraded: Final = Signal()
task_changed: Final = Signal()


@dataclass(frozen=True, slots=True)
class Event:
    """One signal: its name, its sender, when it is sent, and what each keyword argument holds."""

    name: str
    signal: Signal
    sender: str
    when: str
    fields: Mapping[str, str]


_CALL = {
    "server": "Name of the server, `default` or a key of `SERVERS`.",
    "tool": "Name of the tool.",
    "action": "The `action` argument, or None.",
    "request_id": "The JSON-RPC id, or None.",
}
_DURATION = {"duration": "Seconds since the call started."}
_RAISED = {
    "exception": "Name of the exception's class.",
    "error": "Its text, bounded.",
    "crash_reason": "The exception itself.",
}
_REQUEST = {
    "server": "Name of the server.",
    "request_id": "The JSON-RPC id, or None where none could be read.",
    "method": "The JSON-RPC method, or None where none could be read.",
}
_TOOL_CLASS = "the tool's class; of a typed tool the Toolset or the function"

#: Every event, in the order of the documentation.
EVENTS: Final = (
    Event(
        "tool_started",
        tool_started,
        _TOOL_CLASS,
        "A call reached its tool.",
        {
            **_CALL,
            "trace": "What `_meta` says of the request's trace: `traceparent`, `tracestate` and `baggage`, "
            "as far as sent.",
        },
    ),
    Event(
        "tool_stopped",
        tool_stopped,
        _TOOL_CLASS,
        "A call was answered, with a result or with an error meant for the caller.",
        {
            **_CALL,
            **_DURATION,
            "is_error": "Whether the answer is an error.",
            "error_kind": "`dispatch` for an answer given before the handler, `tool` for the tool's own "
            "error, else None.",
            "source": "Where the answer comes from: `live`, `cache` or `stub`.",
            "degraded": "Whether a stand-in was answered in the place of a failure.",
            "attempts": "How many times the handler was started.",
        },
    ),
    Event(
        "tool_failed",
        tool_failed,
        _TOOL_CLASS,
        "A call ended in an unexpected exception or an output mismatch; no `tool_stopped` follows.",
        {**_CALL, **_DURATION, **_RAISED, "reference": "What the caller was told to look for in the log."},
    ),
    Event(
        "tool_cancelled",
        tool_cancelled,
        _TOOL_CLASS,
        "The caller gave a call up, and its transaction was rolled back; no `tool_stopped` follows.",
        {**_CALL, **_DURATION},
    ),
    Event(
        "help_called",
        help_called,
        "the class of the `help` tool",
        "The `help` tool resolved its answer; sent beside its own `tool_started` and `tool_stopped`.",
        {
            "server": _CALL["server"],
            "request_id": _CALL["request_id"],
            "tool": "The `tool` argument of the help call, or None.",
            "action": "The `action` argument of the help call, or None.",
            "level": "`index`, `tool` or `action`: what was asked for.",
            "is_error": "Whether the target does not exist.",
        },
    ),
    Event(
        "request_rejected",
        request_rejected,
        "the class of the check; `MCPView` for another verb or path, `Server` for a method, `Session` on "
        "stdio",
        "A request was refused: by a wire check, or by a method with a JSON-RPC error.",
        {
            **_REQUEST,
            "check": "Name of the check that refused; `view` for another verb or path, `dispatch` for a "
            "method, `stdio` for a message that did not get there.",
            "reason": "A machine word for why.",
            "status": "The HTTP status of the answer; None on stdio.",
            "code": "The JSON-RPC error code of the answer, or None.",
        },
    ),
    Event(
        "auth_rejected",
        auth_rejected,
        "the authentication in use",
        "Authentication refused a request.",
        {**_REQUEST, "auth": "Dotted path of the authentication.", "reason": "Why, bounded."},
    ),
    Event(
        "auth_failed",
        auth_failed,
        "the authentication in use",
        "Authentication raised something unexpected or broke its contract; the request is refused.",
        {**_REQUEST, "auth": "Dotted path of the authentication.", **_RAISED},
    ),
    Event(
        "attempt_retried",
        attempt_retried,
        _TOOL_CLASS,
        "An attempt failed and another one follows.",
        {
            **_CALL,
            "attempt": "Number of the attempt that failed, from 1.",
            "delay": "Seconds until the next attempt.",
            "exception": _RAISED["exception"],
            "error": _RAISED["error"],
        },
    ),
    Event(
        "breaker_rejected",
        breaker_rejected,
        _TOOL_CLASS,
        "A circuit breaker refused an attempt.",
        {**_CALL, "state": "`open` or `half_open`.", "retry_after": "Seconds until it may let one through."},
    ),
    Event(
        "breaker_changed",
        breaker_changed,
        _TOOL_CLASS,
        "A circuit breaker changed its state.",
        {**_CALL, "previous": "`closed`, `open` or `half_open`.", "state": "The state it is in now."},
    ),
    Event(
        "call_degraded",
        call_degraded,
        _TOOL_CLASS,
        "A stand-in was answered in the place of a failure.",
        {**_CALL, "exception": _RAISED["exception"], "error": _RAISED["error"]},
    ),
    Event(
        "task_changed",
        task_changed,
        _TOOL_CLASS,
        "A background call changed its status.",
        {
            **_CALL,
            "task": "Id of the task.",
            "previous": "The status before, or None.",
            "status": "The status now.",
        },
    ),
)


def send(signal: Signal, sender: Any, **fields: Any) -> None:
    """Tell the receivers, if there are any. Called from a thread without a running event loop."""
    if signal.receivers:
        signal.send_robust(sender, **fields)


async def asend(signal: Signal, sender: Any, **fields: Any) -> None:
    """`send` for the event loop: receivers that are plain functions run in the request's thread."""
    if signal.receivers:
        await signal.asend_robust(sender, **fields)
