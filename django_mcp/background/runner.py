"""Who runs the work: the site's task queue, or threads of this process."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.db import connections

from django_mcp import conf
from django_mcp.background import framework, work


class TasksRunner:
    """Django's tasks framework (`TASKS` in the site's settings): workers of its backend run the work.

    The message in the queue holds the id and nothing else, so every backend carries it.
    """

    in_process = False

    @classmethod
    def problems(cls) -> Iterator[tuple[str, str]]:
        """What keeps the runner from working, and what to do about it."""
        alias = conf.get().tasks["BACKEND"]
        if find_spec(framework.NAME) is None:
            yield (
                f"the runner needs {framework.NAME}, which is not installed",
                f"Install django-mcp-actions[{framework.EXTRA}], or set RUNNER in TASKS to "
                "django_mcp.background.runner.InProcessRunner for development.",
            )
            return
        try:
            backend = type(cls._job().get_backend())
        except Exception as error:
            yield (
                f"the tasks backend {alias!r} cannot be used ({error})",
                "Set BACKEND in DJANGO_MCP's TASKS to an alias of the site's TASKS.",
            )
            return
        package = backend.__module__.partition(".")[0]
        if package == "django_tasks_db" and not apps.is_installed(package):
            yield (
                f"the tasks backend {alias!r} keeps its queue in the database, whose app is not installed",
                f'Add "{package}" to INSTALLED_APPS and run migrate.',
            )
        if backend.__name__ in ("ImmediateBackend", "DummyBackend") and not conf.is_debug():
            yield (
                f"the tasks backend {alias!r} is {backend.__name__}, which runs nothing in the background",
                'Set the site\'s TASKS to a backend with workers, such as "django_tasks_db.DatabaseBackend".',
            )

    def start(self, task_id: str) -> str:
        return str(self._job().enqueue(task_id).id)

    def waits(self, ticket: str) -> bool | None:
        """Whether a message is in the queue; None where the backend cannot tell."""
        backend = self._job().get_backend()
        if not backend.supports_get_result:
            return None
        try:
            return bool(backend.get_result(ticket).status == "READY")
        except framework.no_result():
            return False

    @staticmethod
    def _job() -> Any:
        # Making the task asks for its backend, so it is made where one is used.
        from django_mcp.background import jobs

        return jobs.perform.using(backend=conf.get().tasks["BACKEND"])


class InProcessRunner:
    """Threads of this process: for development, for tests and for stdio. What runs ends with the process."""

    in_process = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, threading.Thread] = {}
        # Threads that nobody waits for die in the middle of a line; these are given the time to clean up. The
        # public `atexit` comes too late: by then no executor takes work any more, and cleaning up needs one.
        threading._register_atexit(self.close)  # type: ignore[attr-defined]  # as concurrent.futures does

    def start(self, task_id: str) -> None:
        context = contextvars.copy_context()
        thread = threading.Thread(
            target=context.run, args=(self._run, task_id), name=f"mcp-task-{task_id}", daemon=True
        )
        with self._lock:
            # First, because it may fail; the thread takes itself off once the lock is free.
            thread.start()
            self._running[task_id] = thread

    def join(self, task_id: str, timeout_s: float | None = None) -> None:
        """Wait until a task that was started here is run, as far as it went."""
        with self._lock:
            thread = self._running.get(task_id)
        if thread is not None:
            thread.join(timeout_s)

    def close(self, timeout_s: float = 5) -> None:
        """Cancel what runs, and wait until it has cleaned up."""
        with self._lock:
            running = dict(self._running)
        for task_id in running:
            work.stop(task_id)
        for thread in running.values():
            thread.join(timeout_s)

    def _run(self, task_id: str) -> None:
        try:
            work.perform(task_id)
        finally:
            connections.close_all()
            with self._lock:
                # Work that asked its user may run on already, in another thread.
                if self._running.get(task_id) is threading.current_thread():
                    del self._running[task_id]
