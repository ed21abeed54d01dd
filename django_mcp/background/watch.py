from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from asgiref.sync import async_to_sync
from django.db import connections
from django.utils import timezone

from django_mcp.authoring.context import Context
from django_mcp.authoring.progress import Reporter
from django_mcp.dispatch import tasks
from django_mcp.dispatch.tasks import Record

logger = logging.getLogger("django_mcp")

#: Seconds between two looks at whether somebody has cancelled the task.
LOOK_S: Final = 1.0


class Watch:
    """Looks after a task while its work runs: signs of life, progress messages, and cancellation.

    In a thread of its own, on connections of its own: what is written here must be seen by others at once,
    whatever transaction the work is in the middle of.
    """

    def __init__(self, record: Record, ctx: Context) -> None:
        #: What the work reports to.
        self.reporter = Reporter(self._report)
        self._record = record
        self._ctx = ctx
        self._message: str | None = None
        self._told: str | None = None
        self._beat_at = time.monotonic()
        self._wake = threading.Event()
        self._over = False
        self._thread = threading.Thread(target=self._run, name=f"mcp-watch-{record.task_id}", daemon=True)
        self._lock = threading.Lock()
        self._stop: Callable[[], object] | None = None

    @property
    def message(self) -> str | None:
        """The latest progress message."""
        return self._message

    def _report(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a progress report; what counts of it is the message."""
        if message is not None:
            # Not all databases can keep it.
            self._message = message.replace("\0", "")
            self._wake.set()

    def cancel(self) -> None:
        """Tell the work to stop: its next report ends it, and an async handler at once."""
        with self._lock:
            self._ctx.cancelled = True
            if self._stop is not None:
                self._stop()

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Iterator[None]:
        """Call `stop` once the work is to end, while the block runs."""
        with self._lock:
            self._stop = stop
            if self._ctx.cancelled:
                stop()
        try:
            yield
        finally:
            with self._lock:
                self._stop = None

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while True:
                self._wake.wait(LOOK_S)
                self._wake.clear()
                if self._over:
                    return
                self._look()
        finally:
            connections.close_all()

    def _look(self) -> None:
        try:
            # What came too soon after another report waits, and may be the last one for long.
            self.reporter.flush()
            self._tell()
            record = async_to_sync(tasks.store().get)(self._record.task_id)
            gone = record is None or record.settled or record.worker != self._record.worker
            if not self._ctx.cancelled and (gone or record is None or record.cancel_requested):
                self.cancel()
        except Exception:
            # The database may be back at the next look; the work does not depend on this.
            logger.warning("Task %s could not be looked after.", self._record.task_id, exc_info=True)
            connections.close_all()

    def _tell(self) -> None:
        message, now = self._message, time.monotonic()
        if message == self._told and now - self._beat_at < tasks.HEARTBEAT_S:
            return
        changes = {} if message is None else {"status_message": message}
        where = {"worker": self._record.worker}
        async_to_sync(tasks.store().update)(
            self._record.task_id, where=where, heartbeat_at=timezone.now(), **changes
        )
        self._told, self._beat_at = message, now
