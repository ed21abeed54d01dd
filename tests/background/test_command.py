"""`manage.py mcp tasks`."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from django_mcp import signals
from django_mcp.background.models import BackgroundTask, SpentState
from django_mcp.background.store import OrmStore
from django_mcp.dispatch import tasks
from tests.background.conftest import IN_PROCESS
from tests.background.test_store import record

pytestmark = pytest.mark.django_db


def mcp(*arguments):
    out = io.StringIO()
    call_command("mcp", "tasks", *arguments, stdout=out)
    return out.getvalue()


def keep(task_id, **fields):
    async_to_sync(OrmStore().create)(record(task_id, **fields))


def statuses():
    return {task.task_id: task.status for task in BackgroundTask.objects.all()}


class TestList:
    def test_for_people(self):
        now = timezone.now()
        stamps = {"created_at": now, "last_updated_at": now}
        keep("1", **stamps)
        keep("2", status="completed", action="write", status_message="done", **stamps)
        at = now.isoformat(timespec="seconds")
        width = len(at)

        assert mcp("list").splitlines() == [
            f"id  server   tool    action  owner        status     message  {'created':{width}}  updated",
            f"1   default  report  -       auth.user:1  working    -        {at}  {at}",
            f"2   default  report  write   auth.user:1  completed  done     {at}  {at}",
        ]

    def test_for_machines_and_of_one_status(self):
        keep("1")
        keep("2", status="completed")
        [row] = json.loads(mcp("list", "--json", "--status", "completed"))

        assert (row["id"], row["status"], row["tool"]) == ("2", "completed", "report")


class TestCancel:
    def test_what_has_not_begun_is_over(self):
        keep("1")

        assert mcp("cancel", "1") == "Task 1 is cancelled.\n"
        assert statuses() == {"1": "cancelled"}

    def test_what_runs_is_asked_to_stop(self):
        keep("1", worker="w", heartbeat_at=timezone.now())

        assert mcp("cancel", "1") == "Task 1 is asked to stop.\n"
        assert BackgroundTask.objects.get().cancel_requested is True

    def test_what_is_over_stays_so(self):
        keep("1", status="completed")

        with pytest.raises(CommandError, match=r"Task 1 is over: completed\."):
            mcp("cancel", "1")

    def test_an_unknown_id_is_told(self):
        with pytest.raises(CommandError, match=r"There is no task 1\."):
            mcp("cancel", "1")


def test_prune_forgets_what_is_over_for_long_enough():
    keep("kept", status="completed", expires_at=timezone.now() + timedelta(hours=1))
    keep("working")
    keep("old", status="completed", expires_at=timezone.now() - timedelta(seconds=1))
    SpentState.objects.create(nonce="old", expires_at=timezone.now() - timedelta(seconds=1))

    assert mcp("prune") == "1 tasks are forgotten.\n"
    assert sorted(statuses()) == ["kept", "working"]
    assert not SpentState.objects.exists()


class TestSweep:
    @pytest.fixture(autouse=True)
    def workers(self):
        now = timezone.now()
        keep("alive", worker="w", heartbeat_at=now - timedelta(seconds=30))
        keep("dead", worker="w", heartbeat_at=now - timedelta(seconds=90))
        keep("waiting")
        keep("done", worker="w", status="completed", heartbeat_at=now - timedelta(seconds=90))

    def test_a_task_whose_worker_is_gone_has_failed_and_says_so(self):
        assert mcp("sweep").splitlines()[0] == "1 tasks had lost their worker and have failed."
        assert statuses() == {"alive": "working", "dead": "failed", "waiting": "working", "done": "completed"}
        assert BackgroundTask.objects.get(task_id="dead").status_message == tasks.LOST

    def test_how_long_is_too_long_can_be_said(self):
        assert mcp("sweep", "--stale-s", "10").splitlines()[0] == (
            "2 tasks had lost their worker and have failed."
        )

    def test_what_no_worker_has_begun_is_handed_over_again(self):
        keep("forgotten", last_updated_at=timezone.now() - timedelta(minutes=5))

        assert mcp("sweep", "--stale-s", "240").splitlines() == [
            "0 tasks had lost their worker and have failed.",
            "1 tasks that no worker has begun are handed over again.",
        ]
        [message] = DBTaskResult.objects.all()
        assert message.args_kwargs == {"args": ["forgotten"], "kwargs": {}}

    def test_a_process_that_ends_takes_nothing_over(self, settings):
        settings.DJANGO_MCP = {"TASKS": {"RUNNER": IN_PROCESS}}
        keep("forgotten", last_updated_at=timezone.now() - timedelta(minutes=5))

        assert mcp("sweep", "--stale-s", "240") == "0 tasks had lost their worker and have failed.\n"

    def test_whoever_looks_at_it_finds_it_failed_without_a_sweep(self):
        heard = []

        def hear(**fields):
            heard.append((fields["task"], fields["previous"], fields["status"]))

        signals.task_changed.connect(hear)
        try:
            assert tasks.load("dead").status == "failed"
        finally:
            signals.task_changed.disconnect(hear)

        assert heard == [("dead", "working", "failed")]
        assert tasks.load("alive").status == "working"
