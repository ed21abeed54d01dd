"""Background tasks as the rest of the package sees them: what is kept of one, who keeps it, who runs it.

A store and a runner are classes named by dotted path (`TASKS`). Every change goes through `TaskStore.update`,
which never touches what is settled or expired, so that of two changes at once exactly one happens.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Literal, Protocol

from asgiref.sync import async_to_sync
from django.utils import timezone
from django.utils.module_loading import import_string

from django_mcp import conf, signals
from django_mcp.authoring.errors import ConfigurationError
from django_mcp.registry import catalog as registry

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]

UNSETTLED: Final = ("working", "input_required")

#: Seconds after which a worker without a sign of life is taken for dead; it gives one every HEARTBEAT_S.
STALE_S: Final = 60
HEARTBEAT_S: Final = 10

#: What ids are issued.
_ISSUED: Final = re.compile(r"[0-9a-f]{32}")

LOST: Final = "The worker that ran this stopped before the end; it was not run again."
CANCELLED: Final = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is kept of a task. Every field but the times is JSON.

    `arguments` are the call's as sent; `owner` is whose task it is (`auth.identity`); `axes` the values bound
    at submit; `locale` the language and time zone then, and `trace` the trace context of the request;
    `capabilities` what the client can be asked while the work runs; `answers` what the user
    answered so far, by the handler's keys; `questions` what is asked now, by the keys the client sees;
    `asked` all those keys so far. `result` is what the call would have answered, `error` what went wrong
    outside of it. `worker` names who runs it, empty before; `ticket` is what the queue calls the message for
    the worker, empty where it has no name, None while none is known to be sent; `expires_at` is None while it
    is not to be forgotten.
    """

    task_id: str
    server: str
    tool: str
    action: str | None
    arguments: dict[str, Any]
    owner: str
    created_at: datetime
    last_updated_at: datetime
    axes: dict[str, Any] = field(default_factory=dict)
    locale: dict[str, Any] = field(default_factory=dict)
    trace: dict[str, Any] = field(default_factory=dict)
    capabilities: dict[str, Any] = field(default_factory=dict)
    status: Status = "working"
    status_message: str | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    questions: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    worker: str = ""
    ticket: str | None = None
    heartbeat_at: datetime | None = None
    cancel_requested: bool = False
    version: int = 0
    expires_at: datetime | None = None

    @property
    def ttl_ms(self) -> int | None:
        """Milliseconds from its creation for which it is kept; None: no end is set."""
        if self.expires_at is None:
            return None
        return int((self.expires_at - self.created_at) / timedelta(milliseconds=1))

    @property
    def settled(self) -> bool:
        return self.status not in UNSETTLED

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_stale(self, now: datetime, seconds: float = STALE_S) -> bool:
        """Whether somebody runs it who has given no sign of life for so long."""
        return (
            self.status == "working"
            and self.heartbeat_at is not None
            and self.worker != ""
            and now - self.heartbeat_at > timedelta(seconds=seconds)
        )

    def is_waiting(self, now: datetime, seconds: float = STALE_S) -> bool:
        """Whether it has waited for a worker for so long."""
        waits = self.status == "working" and self.worker == ""
        return waits and now - self.last_updated_at > timedelta(seconds=seconds)


class TaskStore(Protocol):
    """Where tasks are kept. Safe to use from any thread.

    `in_process`: whether other processes cannot see what it keeps. A store that `manage.py mcp tasks` is to
    look into also has `async records(status) -> list[Record]`, the tasks of a status or with None all,
    newest first, and `async prune() -> int`, which forgets those that are expired.
    """

    in_process: bool

    async def create(self, record: Record) -> None:
        """Keep a new task. It is durable when this returns."""

    async def get(self, task_id: str) -> Record | None:
        """The task of an id; None if it is unknown or expired."""

    async def update(self, task_id: str, *, where: Mapping[str, Any] | None = None, **changes: Any) -> bool:
        """Change fields, and stamp `last_updated_at` and a `version` one higher; whether it did.

        Nothing happens, in one step with the test of it, where the task is unknown, expired or settled, or
        where a field does not hold what `where` says.
        """


class TaskRunner(Protocol):
    """Who runs the work. `in_process`: whether in this very process, so that it ends with it.

    One that can tell whether a message is still in its queue also has `waits(ticket) -> bool | None`.
    """

    in_process: bool

    def start(self, task_id: str) -> str | None:
        """See to it that `background.work.perform` is called with this id, once, somewhere. Does not wait.

        Returns what the queue calls the message, for `waits`.
        """


@lru_cache(maxsize=8)
def _instance(path: str) -> Any:
    return import_string(path)()


def store() -> TaskStore:
    found: TaskStore = _instance(conf.get().tasks["STORE"])
    return found


def runner() -> TaskRunner:
    found: TaskRunner = _instance(conf.get().tasks["RUNNER"])
    return found


def submit(
    *,
    server: str,
    tool: str,
    action: str | None,
    arguments: dict[str, Any],
    owner: str,
    axes: dict[str, Any],
    locale: dict[str, Any],
    trace: dict[str, Any],
    capabilities: dict[str, Any],
    answers: dict[str, Any],
    request_id: Any,
) -> Record:
    """Keep a new task, then have it run. Raises what store or runner raise; nothing is left running then."""
    now = timezone.now()
    record = Record(
        task_id=secrets.token_hex(16),
        server=server,
        tool=tool,
        action=action,
        arguments=arguments,
        owner=owner,
        axes=axes,
        locale=locale,
        trace=trace,
        capabilities=capabilities,
        answers=answers,
        created_at=now,
        last_updated_at=now,
    )
    async_to_sync(store().create)(record)
    _announce(record, None, "working", request_id)
    _start(record)
    return record


def hand_over(record: Record) -> None:
    """Have a task run, and keep that it was handed over. Raises what store or runner raise."""
    current = runner()
    ticket = current.start(record.task_id)
    if not current.in_process:
        async_to_sync(store().update)(record.task_id, ticket=ticket or "")


def is_handed_over(record: Record, now: datetime) -> bool:
    """Whether a worker will get to a task that waits, as far as the runner can tell.

    Where it cannot, one that has waited twice as long as when it was handed over last is taken for lost: a
    message that is lost costs the task, and one too many nothing.
    """
    if record.ticket is None:
        return False
    waits = getattr(runner(), "waits", None)
    told: bool | None = waits(record.ticket) if waits is not None and record.ticket else None
    handed_over = record.last_updated_at
    return now - handed_over <= handed_over - record.created_at if told is None else told


def _start(record: Record) -> None:
    try:
        hand_over(record)
    except BaseException:
        settle(record, "failed", status_message="It could not be handed to a worker.")
        raise


def find(task_id: str, *, server: str, owner: str) -> Record | None:
    """The caller's task of an id; somebody else's is as unknown as one that never was."""
    # A client may send any text as an id, and databases refuse some.
    record = load(task_id) if _ISSUED.fullmatch(task_id) else None
    if record is None or (record.server, record.owner) != (server, owner):
        return None
    return record


def load(task_id: str) -> Record | None:
    """The task of an id, its state as of now: one whose worker is gone has failed."""
    record = async_to_sync(store().get)(task_id)
    if record is not None and record.is_stale(timezone.now()):
        lost(record)
        record = async_to_sync(store().get)(task_id)
    return record


def lost(record: Record) -> bool:
    """Fail a task whose worker is gone, unless the worker gives a sign of life this very moment."""
    where = {"worker": record.worker, "heartbeat_at": record.heartbeat_at}
    return settle(record, "failed", where=where, status_message=LOST)


def claim(task_id: str, worker: str) -> Record | None:
    """Make a worker the one that runs a task; None where it was started before, or is over.

    May be repeated by the same worker, which cannot know what became of a claim that lost its connection.
    """
    where = {"status": "working", "worker": ""}
    changes = {"worker": worker, "heartbeat_at": timezone.now()}
    async_to_sync(store().update)(task_id, where=where, **changes)
    record = async_to_sync(store().get)(task_id)
    return record if record is not None and record.worker == worker and not record.settled else None


def settle(record: Record, status: Status, *, where: Mapping[str, Any] | None = None, **changes: Any) -> bool:
    """End a task, unless it is over; from then on its retention counts.

    What only a run needs is forgotten: no other follows, and it may hold secrets.
    """
    retention = conf.get().tasks["RETENTION_S"]
    expires = None if retention is None else timezone.now() + timedelta(seconds=retention)
    emptied: dict[str, Any] = {"arguments": {}, "answers": {}, "questions": {}, "trace": {}}
    changes = {"status": status, "expires_at": expires, **emptied, **changes}
    settled = async_to_sync(store().update)(record.task_id, where=where, **changes)
    if settled:
        _announce(record, record.status, status)
    return settled


def park(record: Record, requests: Mapping[str, Any], answers: Mapping[str, Any], kept_s: int) -> bool:
    """Let a task wait for its user, who has `kept_s` seconds; nobody runs it meanwhile.

    A key the client has seen is never used again, so a question put once more gets a new one. Nothing happens
    to a task that is to be cancelled.
    """
    asked = list(record.asked)
    questions = {}
    for key, request in requests.items():
        shown, number = key, 1
        while shown in asked:
            number += 1
            shown = f"{key}-{number}"
        asked.append(shown)
        questions[shown] = {"key": key, "request": request}
    parked = async_to_sync(store().update)(
        record.task_id,
        where={"worker": record.worker, "cancel_requested": False},
        status="input_required",
        worker="",
        questions=questions,
        asked=asked,
        answers=dict(answers),
        expires_at=timezone.now() + timedelta(seconds=kept_s),
    )
    if parked:
        _announce(record, "working", "input_required")
    return parked


def deliver(record: Record, responses: Mapping[str, Any]) -> None:
    """Take answers to questions that are open; when none is left, the work goes on."""
    current: Record | None = record
    while current is not None and current.status == "input_required":
        given = {key: value for key, value in responses.items() if key in current.questions}
        if not given:
            return
        answers = {current.questions[key]["key"]: value for key, value in given.items()}
        changes: dict[str, Any] = {
            "questions": {key: q for key, q in current.questions.items() if key not in given},
            "answers": {**current.answers, **answers},
        }
        resumed = not changes["questions"]
        if resumed:
            changes |= {"status": "working", "expires_at": None, "ticket": None}
        if async_to_sync(store().update)(current.task_id, where={"version": current.version}, **changes):
            if resumed:
                _announce(current, "input_required", "working")
                _start(replace(current, status="working"))
            return
        current = load(record.task_id)


def cancel(record: Record) -> Record:
    """Ask a task to stop, and tell how it stands: one that nobody runs is over at once."""
    current: Record | None = record
    while current is not None and not current.settled:
        where = {"worker": current.worker}
        if current.worker:
            done = async_to_sync(store().update)(current.task_id, where=where, cancel_requested=True)
        else:
            done = settle(current, "cancelled", where=where, status_message=CANCELLED)
        current = load(record.task_id)
        if done:
            break
    return current or record


def _announce(record: Record, previous: str | None, status: str, request_id: Any = None) -> None:
    signal = signals.task_changed
    if signal.receivers:
        signals.send(
            signal,
            _sender(record),
            server=record.server,
            tool=record.tool,
            action=record.action,
            request_id=request_id,
            task=record.task_id,
            previous=previous,
            status=status,
        )


def _sender(record: Record) -> Any:
    """Who sends the signals of the tool; None where it is served no more."""
    try:
        registration = registry.catalog(record.server).by_name.get(record.tool)
    except ConfigurationError:
        return None
    return None if registration is None else registration.sender
