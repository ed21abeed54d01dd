"""A caller that leaves while its work is handed over learns no id, so there is to be no work."""

from __future__ import annotations

import asyncio
import threading

import pytest

from django_mcp import Tool, action, testing
from django_mcp.background.runner import InProcessRunner
from django_mcp.dispatch import tasks


class Report(Tool):
    """Reports."""

    @action(description="Write one", properties={}, background=True)
    def write(self, data, ctx):
        return {}

    @action(description="Write one", properties={}, background=True)
    async def awrite(self, data, ctx):
        return {}


class Queue:
    """A queue that takes a message when the test says so; and what becomes of the message there."""

    in_process = True

    def __init__(self, becomes):
        self.asked, self.go_on = threading.Event(), threading.Event()
        self._becomes = becomes

    def start(self, task_id):
        self.asked.set()
        assert self.go_on.wait(30)
        self._becomes(task_id)


def refused(task_id):
    raise OSError("the queue is down")


@pytest.mark.parametrize("called", ["write", "awrite"])
@pytest.mark.parametrize(
    ("becomes", "status", "cancel_requested"),
    [
        (lambda task_id: None, "cancelled", False),
        (lambda task_id: tasks.claim(task_id, "w"), "working", True),
        (refused, "failed", False),
    ],
    ids=["waits", "begun", "refused"],
)
async def test_a_task_whose_caller_has_left_is_cancelled(
    in_memory, monkeypatch, called, becomes, status, cancel_requested
):
    queue = Queue(becomes)
    monkeypatch.setattr(tasks, "runner", lambda: queue)
    with testing.served(Report):
        call = asyncio.create_task(testing.arun_tool("report", action=called))
        assert await asyncio.to_thread(queue.asked.wait, 30)
        call.cancel()
        await asyncio.sleep(0)
        queue.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await call

    [record] = tasks.store()._records.values()
    assert (record.status, record.cancel_requested) == (status, cancel_requested)


def test_work_that_no_thread_takes_is_not_waited_for(in_memory, monkeypatch):
    begin = threading.Thread.start

    def start(thread):
        if thread.name.startswith("mcp-task-"):
            raise RuntimeError("can't start new thread")
        begin(thread)

    with testing.served(Report):
        runner = tasks.runner()
        assert type(runner) is InProcessRunner
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", start)
            result = testing.run_tool("report", action="write")

    assert result["isError"] is True
    [record] = tasks.store()._records.values()
    assert (record.status, record.status_message) == ("failed", "It could not be handed to a worker.")
    runner.join(record.task_id, 0)
    runner.close(0)
