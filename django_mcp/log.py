"""One structured line per event on the logger `django_mcp`.

| event | level |
| --- | --- |
| `tool_started`, `help_called` | debug |
| `tool_stopped`, `tool_cancelled`, `request_rejected`, `attempt_retried`, `task_changed` | info |
| `auth_rejected`, `breaker_rejected`, `breaker_changed`, `call_degraded` | warning |
| `tool_failed`, `auth_failed` | error, with the traceback |

A line is the event's name and its fields as `key=value`; the record carries the same as a dict in its
attribute `mcp`. Values are bounded. An event is connected only where its level is enabled when the app
starts, and none is with `LOG_SIGNALS` off.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from django.core.signals import setting_changed
from django.dispatch import receiver

from django_mcp import conf
from django_mcp.schema import bound
from django_mcp.signals import EVENTS, Event

logger = logging.getLogger("django_mcp")

#: Level of every event's line.
LEVELS: Final = {
    "tool_started": logging.DEBUG,
    "tool_stopped": logging.INFO,
    "tool_failed": logging.ERROR,
    "tool_cancelled": logging.INFO,
    "help_called": logging.DEBUG,
    "request_rejected": logging.INFO,
    "auth_rejected": logging.WARNING,
    "auth_failed": logging.ERROR,
    "attempt_retried": logging.INFO,
    "breaker_rejected": logging.WARNING,
    "breaker_changed": logging.WARNING,
    "call_degraded": logging.WARNING,
    "task_changed": logging.INFO,
}


class Line:
    """The receiver of one event. The event's exception becomes the record's traceback, not a field."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.level = LEVELS[event.name]
        self.keys = tuple(key for key in event.fields if key != "crash_reason")

    def __call__(self, **fields: Any) -> None:
        values = {key: bound.value(fields.get(key)) for key in self.keys}
        logger.log(
            self.level,
            "%s %s",
            self.event.name,
            # The representation keeps a line break in a value from starting a line of its own.
            " ".join(f"{key}={value!r}" for key, value in values.items()),
            exc_info=fields.get("crash_reason"),
            extra={"mcp": {"event": self.event.name, **values}},
        )


_LINES: Final = tuple(Line(event) for event in EVENTS)


def connect() -> None:
    """Connect the lines whose level is enabled now, and only those; to be called again when levels change."""
    wanted = conf.get().log_signals
    for line in _LINES:
        signal = line.event.signal
        signal.disconnect(line)
        if wanted and logger.isEnabledFor(line.level):
            signal.connect(line)


@receiver(setting_changed)
def _reconnect(*, setting: str, **kwargs: Any) -> None:
    if setting == "DJANGO_MCP":
        connect()
