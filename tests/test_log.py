from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from django_mcp import log, signals


class Sender:
    pass


@pytest.fixture(autouse=True)
def connections() -> Iterator[None]:
    yield
    log.connect()


def connect(level: int) -> None:
    """Connect as an app that starts with the logger at this level."""
    before = log.logger.level
    log.logger.setLevel(level)
    log.connect()
    log.logger.setLevel(before)


def connected() -> list[str]:
    return [event.name for event in signals.EVENTS if event.signal.receivers]


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, Any, Any]]:
    return [
        (
            record.levelname,
            record.getMessage(),
            record.__dict__["mcp"],
            record.exc_info and record.exc_info[1],
        )
        for record in caplog.records
        if record.name == "django_mcp"
    ]


def test_every_event_has_a_level() -> None:
    assert list(log.LEVELS) == [event.name for event in signals.EVENTS]


@pytest.mark.parametrize("event", signals.EVENTS, ids=lambda event: event.name)
def test_an_event_is_one_line_of_its_fields_at_its_level(
    event: signals.Event, caplog: pytest.LogCaptureFixture
) -> None:
    crash = RuntimeError("broke")
    sent = {field: crash if field == "crash_reason" else f"a {field}" for field in event.fields}
    connect(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, "django_mcp"):
        signals.send(event.signal, Sender, **sent)
    shown = {field: value for field, value in sent.items() if field != "crash_reason"}
    text = " ".join(f"{field}={value!r}" for field, value in shown.items())
    assert lines(caplog) == [
        (
            logging.getLevelName(log.LEVELS[event.name]),
            f"{event.name} {text}",
            {"event": event.name, **shown},
            sent.get("crash_reason"),
        )
    ]


def test_only_errors_and_rejected_credentials_carry_a_level_above_info_by_themselves() -> None:
    levels: dict[str, list[str]] = {}
    for name, level in log.LEVELS.items():
        levels.setdefault(logging.getLevelName(level), []).append(name)
    assert levels == {
        "DEBUG": ["tool_started", "help_called"],
        "INFO": ["tool_stopped", "tool_cancelled", "request_rejected", "attempt_retried", "task_changed"],
        "ERROR": ["tool_failed", "auth_failed"],
        "WARNING": ["auth_rejected", "breaker_rejected", "breaker_changed", "call_degraded"],
    }


def test_a_line_break_in_a_value_starts_no_line_and_a_missing_field_is_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    connect(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, "django_mcp"):
        signals.send(signals.tool_started, Sender, server="default", tool="a\nERROR forged", unknown=1)
    assert lines(caplog) == [
        (
            "DEBUG",
            r"tool_started server='default' tool='a\nERROR forged' action=None request_id=None trace=None",
            {
                "event": "tool_started",
                "server": "default",
                "tool": "a\nERROR forged",
                "action": None,
                "request_id": None,
                "trace": None,
            },
            None,
        )
    ]


def test_values_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    connect(logging.WARNING)
    with caplog.at_level(logging.WARNING, "django_mcp"):
        signals.send(signals.auth_rejected, Sender, reason="x" * 100_000)
    ((_, text, values, _),) = lines(caplog)
    assert len(text) < 500
    assert len(values["reason"]) < 300


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (logging.DEBUG, [event.name for event in signals.EVENTS]),
        (
            logging.WARNING,
            [
                "tool_failed",
                "auth_rejected",
                "auth_failed",
                "breaker_rejected",
                "breaker_changed",
                "call_degraded",
            ],
        ),
        (logging.ERROR, ["tool_failed", "auth_failed"]),
        (logging.CRITICAL, []),
    ],
)
def test_only_events_whose_level_is_enabled_are_listened_to(level: int, expected: list[str]) -> None:
    connect(level)
    assert connected() == expected


def test_nothing_is_listened_to_with_the_setting_off(settings: Any) -> None:
    log.logger.setLevel(logging.DEBUG)
    try:
        settings.DJANGO_MCP = {"LOG_SIGNALS": False}
        assert connected() == []
        settings.DJANGO_MCP = {"LOG_SIGNALS": True}
        assert connected() == [event.name for event in signals.EVENTS]
    finally:
        log.logger.setLevel(logging.NOTSET)


def test_connecting_again_logs_no_event_twice(caplog: pytest.LogCaptureFixture) -> None:
    connect(logging.WARNING)
    connect(logging.WARNING)
    with caplog.at_level(logging.WARNING, "django_mcp"):
        signals.send(signals.call_degraded, Sender)
    assert len(lines(caplog)) == 1


def test_another_setting_leaves_the_connections_alone(settings: Any) -> None:
    connect(logging.DEBUG)
    settings.LANGUAGE_CODE = "de"
    assert connected() == [event.name for event in signals.EVENTS]
