from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.dispatch import Signal

from django_mcp import log, signals

PAGE = Path(__file__).parent.parent / "docs" / "signals.md"


class Sender:
    pass


@pytest.fixture
def heard() -> list[dict[str, Any]]:
    return []


def section(event: signals.Event) -> str:
    """How the documentation shows an event."""
    level = logging.getLevelName(log.LEVELS[event.name]).lower()
    rows = [f"| `{field}` | {meaning} |" for field, meaning in event.fields.items()]
    return "\n".join(
        [
            f"### `{event.name}`",
            "",
            event.when,
            "",
            f"Sender: {event.sender}. Logged at level {level}.",
            "",
            "| field | meaning |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )


def test_the_catalogue_holds_every_signal_of_the_module_under_its_name() -> None:
    named = {name: value for name, value in vars(signals).items() if isinstance(value, Signal)}
    assert {event.name: event.signal for event in signals.EVENTS} == named
    assert len(signals.EVENTS) == 13


def test_no_event_carries_arguments_or_results() -> None:
    names = {field for event in signals.EVENTS for field in event.fields}
    assert names.isdisjoint(
        {"arguments", "data", "params", "result", "content", "structured", "ctx", "request"}
    )


def test_the_documentation_shows_the_catalogue_and_nothing_else() -> None:
    _, catalogue = PAGE.read_text().split("## Catalogue\n\n")
    assert catalogue == "\n".join(section(event) for event in signals.EVENTS)


def test_receivers_get_the_fields_and_the_sender(heard: list[dict[str, Any]]) -> None:
    signal = Signal()

    def receive(**fields: Any) -> None:
        heard.append(fields)

    signal.connect(receive)
    signals.send(signal, Sender, tool="tasks", action=None)
    assert heard == [{"signal": signal, "sender": Sender, "tool": "tasks", "action": None}]


async def test_receivers_get_the_fields_and_the_sender_on_the_event_loop(heard: list[dict[str, Any]]) -> None:
    signal = Signal()

    async def receive(**fields: Any) -> None:
        heard.append(fields)

    signal.connect(receive)
    await signals.asend(signal, Sender, tool="tasks", action=None)
    assert heard == [{"signal": signal, "sender": Sender, "tool": "tasks", "action": None}]


def test_a_coroutine_function_receives_what_a_thread_sends(heard: list[dict[str, Any]]) -> None:
    signal = Signal()

    async def receive(**fields: Any) -> None:
        heard.append(fields)

    signal.connect(receive)
    signals.send(signal, Sender)
    assert heard == [{"signal": signal, "sender": Sender}]


async def test_a_plain_function_receives_what_the_event_loop_sends_in_another_thread() -> None:
    signal, threads = Signal(), []

    def receive(**fields: Any) -> None:
        threads.append(threading.current_thread())

    signal.connect(receive)
    await signals.asend(signal, Sender)
    assert [thread is threading.main_thread() for thread in threads] == [False]


@pytest.mark.django_db(transaction=True)
async def test_a_receiver_may_query_the_database_on_the_event_loop() -> None:
    signal, counted = Signal(), []

    def receive(**fields: Any) -> None:
        counted.append(Group.objects.count())

    signal.connect(receive)
    await signals.asend(signal, Sender)
    assert counted == [0]


@pytest.fixture
def broken(heard: list[dict[str, Any]]) -> Any:
    signal = Signal()

    def fail(**fields: Any) -> None:
        raise RuntimeError("receiver broke")

    def receive(**fields: Any) -> None:
        heard.append(fields)

    signal.connect(fail)
    signal.connect(receive)
    signal.keep = fail, receive  # type: ignore[attr-defined]  # receivers are held weakly
    return signal


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.name, str(record.exc_info and record.exc_info[1])) for record in caplog.records]


def test_a_raising_receiver_is_logged_and_the_others_are_told(
    broken: Signal, heard: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    signals.send(broken, Sender, tool="tasks")
    assert heard == [{"signal": broken, "sender": Sender, "tool": "tasks"}]
    assert logged(caplog) == [("django.dispatch", "receiver broke")]


async def test_a_raising_receiver_is_logged_on_the_event_loop_and_the_others_are_told(
    broken: Signal, heard: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    await signals.asend(broken, Sender, tool="tasks")
    assert heard == [{"signal": broken, "sender": Sender, "tool": "tasks"}]
    assert logged(caplog) == [("django.dispatch", "receiver broke")]


class Silent(Signal):
    """A signal whose sending would be noticed."""

    def send_robust(self, sender: Any, **named: Any) -> Any:
        raise AssertionError("sent")

    async def asend_robust(self, sender: Any, **named: Any) -> Any:
        raise AssertionError("sent")


def test_nothing_is_sent_where_nobody_listens() -> None:
    signals.send(Silent(), Sender)


async def test_nothing_is_sent_on_the_event_loop_where_nobody_listens() -> None:
    await signals.asend(Silent(), Sender)
