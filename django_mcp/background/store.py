"""Where tasks are kept: in the database, or in the memory of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import sync_to_async
from django.apps import apps
from django.utils import timezone

from django_mcp.dispatch.tasks import Record, Status

if TYPE_CHECKING:
    from django_mcp.background.models import BackgroundTask

_FIELDS: Final = tuple(field.name for field in fields(Record))
#: Fields of a record that may be None, which the database has as an empty text.
_BLANK: Final = ("action", "status_message")


class OrmStore:
    """Tasks in the site's database: the model of `django_mcp.background`, which must be installed."""

    in_process = False

    @classmethod
    def problems(cls) -> Iterator[tuple[str, str]]:
        """What keeps the store from working, and what to do about it."""
        if not apps.is_installed("django_mcp.background"):
            yield (
                "tasks are kept in the database, whose app is not installed",
                'Add "django_mcp.background" to INSTALLED_APPS and run migrate.',
            )

    async def create(self, record: Record) -> None:
        await sync_to_async(self._create)(record)

    async def get(self, task_id: str) -> Record | None:
        return await sync_to_async(self._get)(task_id)

    async def update(self, task_id: str, *, where: Mapping[str, Any] | None = None, **changes: Any) -> bool:
        return await sync_to_async(self._update)(task_id, where or {}, changes)

    async def records(self, status: Status | None) -> list[Record]:
        """The tasks of a status, or all, newest first."""
        return await sync_to_async(self._records)(status)

    async def prune(self) -> int:
        """Forget the tasks whose time is over; how many."""
        return await sync_to_async(self._prune)()

    def _create(self, record: Record) -> None:
        # Here, so that a site needs nothing that does this by the clock.
        self._prune()
        _model().objects.create(**_columns({name: getattr(record, name) for name in _FIELDS}))

    def _get(self, task_id: str) -> Record | None:
        row = _model().objects.written().kept(timezone.now()).filter(task_id=task_id).first()
        return None if row is None else as_record(row)

    def _records(self, status: Status | None) -> list[Record]:
        rows = _model().objects.written().kept(timezone.now())
        return [as_record(row) for row in (rows if status is None else rows.filter(status=status))]

    def _prune(self) -> int:
        return _model().objects.expired(timezone.now()).delete()[0]

    def _update(self, task_id: str, where: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
        from django.db.models import F

        now = timezone.now()
        rows = _model().objects.unsettled().kept(now).filter(task_id=task_id, **_columns(where))
        # One statement, so that nothing can come between the test and the change.
        return bool(rows.update(**_columns(changes), last_updated_at=now, version=F("version") + 1))


def _model() -> type[BackgroundTask]:
    # The module can be imported where the app is not installed; its models cannot.
    from django_mcp.background.models import BackgroundTask

    return BackgroundTask


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value or "" if name in _BLANK else value for name, value in values.items()}


def as_record(row: BackgroundTask) -> Record:
    """The record a row holds."""
    values = {name: getattr(row, name) for name in _FIELDS}
    return Record(**{**values, **{name: values[name] or None for name in _BLANK}})


class MemoryStore:
    """Tasks in the memory of this process, gone with it: for tests, for development and for stdio."""

    in_process = True

    def __init__(self, clock: Callable[[], Any] = timezone.now) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._records: dict[str, Record] = {}

    async def create(self, record: Record) -> None:
        with self._lock:
            now = self._clock()
            self._records = {key: kept for key, kept in self._records.items() if not kept.is_expired(now)}
            self._records[record.task_id] = record

    async def get(self, task_id: str) -> Record | None:
        with self._lock:
            return self._kept(task_id)

    async def update(self, task_id: str, *, where: Mapping[str, Any] | None = None, **changes: Any) -> bool:
        with self._lock:
            record = self._kept(task_id)
            if record is None or record.settled:
                return False
            if any(getattr(record, name) != value for name, value in (where or {}).items()):
                return False
            stamps = {"last_updated_at": self._clock(), "version": record.version + 1}
            self._records[task_id] = replace(record, **changes, **stamps)
            return True

    def _kept(self, task_id: str) -> Record | None:
        record = self._records.get(task_id)
        return None if record is None or record.is_expired(self._clock()) else record
