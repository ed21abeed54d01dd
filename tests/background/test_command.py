"""`manage.py mcp tasks`."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_tasks_db import DatabaseBackend
from django_tasks_db.models import DBTaskResult

from django_mcp import signals
from django_mcp.background.models import BackgroundTask, SpentState
from django_mcp.background.store import MemoryStore, OrmStore
from django_mcp.dispatch import tasks
from tests.background.conftest import IN_PROCESS, MEMORY
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


class CannotTell(DatabaseBackend):
    """A queue that keeps its messages to itself."""

    supports_get_result = False


class Silent:
    """A runner of a site's own, that says no more than it has to."""

    in_process = False
    started: list = []

    def start(self, task_id):
        self.started.append(task_id)


class TestHandingOver:
    """A sweep hands over what is in no queue, once; what waits for its turn is left alone."""

    @pytest.fixture(autouse=True)
    def swept(self):
        """Sweep, and tell how many tasks were handed over."""

        def swept():
            waited = timezone.now() - timedelta(minutes=5)
            BackgroundTask.objects.update(created_at=waited, last_updated_at=waited)
            said = re.fullmatch(
                r"0 tasks had lost their worker and have failed\.\n"
                r"(\d+) tasks that were in no queue are handed over again\.\n",
                mcp("sweep"),
            )
            return int(said[1])

        return swept

    def messages(self):
        return [message.args_kwargs for message in DBTaskResult.objects.all()]

    def test_what_waits_for_its_turn_is_left_alone(self, swept):
        keep("1")
        tasks.hand_over(tasks.load("1"))

        assert [swept(), swept()] == [0, 0]
        assert self.messages() == [{"args": ["1"], "kwargs": {}}]

    def test_what_was_never_sent_is_handed_over_once(self, swept):
        keep("1")

        assert [swept(), swept()] == [1, 0]
        assert self.messages() == [{"args": ["1"], "kwargs": {}}]

    @pytest.mark.parametrize("status", ["RUNNING", "FAILED", "SUCCESSFUL", None])
    def test_so_is_that_whose_message_is_gone_or_was_taken_in_vain(self, swept, status):
        keep("1")
        tasks.hand_over(tasks.load("1"))
        if status is None:
            DBTaskResult.objects.all().delete()
        else:
            DBTaskResult.objects.update(status=status)

        assert [swept(), swept()] == [1, 0]

    @pytest.mark.parametrize(("handed_over", "again"), [(5, 1), (10, 1), (14, 0), (20, 0)])
    @pytest.mark.parametrize("queue", ["backend", "runner"])
    def test_a_queue_that_cannot_tell_is_asked_more_and_more_seldom(
        self, settings, monkeypatch, queue, handed_over, again
    ):
        """What has waited since then as long as it had before."""
        monkeypatch.setattr(Silent, "started", [])
        settings.TASKS = {"default": {"BACKEND": f"{__name__}.CannotTell"}}
        if queue == "runner":
            settings.DJANGO_MCP = {"TASKS": {"RUNNER": f"{__name__}.Silent"}}
        keep("1")
        tasks.hand_over(tasks.load("1"))
        now = timezone.now()
        created, handed = now - timedelta(minutes=25), now - timedelta(minutes=25 - handed_over)
        BackgroundTask.objects.update(created_at=created, last_updated_at=handed)

        assert mcp("sweep").endswith(f"\n{again} tasks that were in no queue are handed over again.\n")
        assert mcp("sweep").endswith("\n0 tasks that were in no queue are handed over again.\n")
        assert len(self.messages()) + len(Silent.started) == 1 + again

    def test_what_goes_on_after_an_answer_is_not_taken_for_sent_before_it_is(self, settings, monkeypatch):
        settings.DJANGO_MCP = {"TASKS": {"RUNNER": f"{__name__}.Silent"}}
        found = []
        monkeypatch.setattr(Silent, "start", lambda self, task_id: found.append(tasks.load(task_id).ticket))
        question = {"key": "q", "request": {}}
        keep("1", status="input_required", questions={"q": question}, ticket="", asked=["q"])
        tasks.deliver(tasks.load("1"), {"q": {"action": "decline"}})

        assert (found, tasks.load("1").ticket) == ([None], "")

    def test_what_is_being_done_or_is_new_is_left_alone(self, swept):
        keep("1", worker="w", heartbeat_at=timezone.now())
        assert swept() == 0

        keep("2")
        assert mcp("sweep").endswith("0 tasks that were in no queue are handed over again.\n")


class Elsewhere(MemoryStore):
    """A store of a site's own."""

    in_process = False

    async def records(self, status):
        return [record for record in self._records.values() if status in (None, record.status)]

    async def prune(self):
        return 7


class TestOtherStores:
    """The commands look where tasks are kept, wherever that is."""

    @pytest.fixture
    def elsewhere(self, settings):
        settings.INSTALLED_APPS = [
            name for name in settings.INSTALLED_APPS if name != "django_mcp.background"
        ]
        runner = {"RUNNER": f"{__name__}.Silent"}
        settings.DJANGO_MCP = {"TASKS": {"STORE": f"{__name__}.Elsewhere", **runner}}
        return async_to_sync(tasks.store().create)

    def test_they_are_listed_swept_cancelled_and_pruned(self, elsewhere):
        now = timezone.now()
        elsewhere(record("1", status="completed", status_message="done", action="write"))
        elsewhere(record("2", worker="w", heartbeat_at=now - timedelta(seconds=90)))
        elsewhere(record("3", last_updated_at=now - timedelta(seconds=90)))

        assert mcp("sweep").splitlines() == [
            "1 tasks had lost their worker and have failed.",
            "1 tasks that were in no queue are handed over again.",
        ]
        assert mcp("cancel", "3") == "Task 3 is cancelled.\n"
        assert mcp("prune") == "7 tasks are forgotten.\n"
        shown = [(row["id"], row["status"], row["message"]) for row in json.loads(mcp("list", "--json"))]
        assert shown == [
            ("1", "completed", "done"),
            ("2", "failed", tasks.LOST),
            ("3", "cancelled", "cancelled"),
        ]
        assert [row["id"] for row in json.loads(mcp("list", "--json", "--status", "failed"))] == ["2"]

    @pytest.mark.parametrize(
        ("command", "method"), [("list", "records"), ("sweep", "records"), ("prune", "prune")]
    )
    def test_a_store_that_cannot_be_looked_into_is_told(self, settings, command, method):
        settings.DJANGO_MCP = {"TASKS": {"STORE": MEMORY}}
        keep("1")

        with pytest.raises(CommandError, match=f"^{MEMORY} cannot do this: it has no method {method}\\.$"):
            mcp(command)
