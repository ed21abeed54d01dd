from __future__ import annotations

import threading

import pytest

from django_mcp import testing
from django_mcp.background import work
from django_mcp.background.runner import InProcessRunner
from django_mcp.dispatch import tasks

MEMORY = "django_mcp.background.store.MemoryStore"
IN_PROCESS = "django_mcp.background.runner.InProcessRunner"


class Options(dict):
    """The `TASKS` of the settings; what is set here, is set there."""

    def __init__(self, settings):
        super().__init__(settings.DJANGO_MCP["TASKS"])
        self._settings = settings

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        # Anew: settings that are changed in place are not read again.
        self._settings.DJANGO_MCP = {**self._settings.DJANGO_MCP, "TASKS": dict(self)}


@pytest.fixture
def in_memory(settings, gate):
    """Tasks in memory, run by threads of this process; the `TASKS` of the settings, to be added to."""
    settings.DJANGO_MCP = {"TASKS": {"STORE": MEMORY, "RUNNER": IN_PROCESS}}
    yield Options(settings)
    # Nothing runs on under the settings of another test.
    gate.go_on.set()
    runner = tasks.runner()
    if isinstance(runner, InProcessRunner):
        runner.close(30)


@pytest.fixture
def inline(monkeypatch):
    """Work runs where it is submitted: an in-memory database is of little use to other threads."""
    monkeypatch.setattr(InProcessRunner, "start", lambda self, task_id: work.perform(task_id))


class Gate:
    """Lets work begin and go on when the test says so."""

    def __init__(self):
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.ended = []

    def pass_through(self):
        self.begun.set()
        assert self.go_on.wait(30)


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.go_on.set()


@pytest.fixture
def client(in_memory):
    return Poller()


class Poller:
    """A client without tasks of the protocol: it calls, and polls by the shared tools."""

    def __init__(self, **context):
        self.context = context

    def call(self, tool, arguments=None, *, action=None, data=None, answers=None):
        ctx = testing.build_context(**self.context)
        return testing.run_tool(tool, arguments, action=action, data=data, ctx=ctx, answers=answers)

    def submit(self, tool, arguments=None, **parts):
        """The id of the task that a call became."""
        return self.call(tool, arguments, **parts)["structuredContent"]["task_id"]

    def status(self, task_id):
        return self.call("task_status", {"task_id": task_id})["structuredContent"]

    def cancel(self, task_id):
        return self.call("task_cancel", {"task_id": task_id})["structuredContent"]

    def result(self, task_id):
        """The members of the task's result, once it was run."""
        tasks.runner().join(task_id, 30)
        return self.call("task_result", {"task_id": task_id})
