"""Running the work: by whom, at most once, for whom, and what the site hears of it."""

from __future__ import annotations

import signal
import threading

import pytest
from django.core.management import call_command
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext_lazy

from django_mcp import BaseTool, Context, signals, testing
from django_mcp.background import work
from django_mcp.background.models import BackgroundTask
from django_mcp.background.watch import Watch
from django_mcp.dispatch import tasks
from tests.background.conftest import MEMORY, Poller
from tests.background.test_store import record
from tests.factories import UserFactory


class WhoAmI(BaseTool):
    """Says who is calling."""

    name = "whoami"
    options = {"background": True}
    input_schema = {"type": "object", "properties": {}}
    runs: list = []

    def run(self, arguments, ctx):
        self.runs.append(ctx.task)
        return {
            "user": ctx.user.get_username(),
            "server": ctx.server,
            "tool": ctx.tool,
            "task": ctx.task,
            "request": ctx.request,
            "headers": dict(ctx.headers),
        }


COLOR = {"type": "object", "properties": {"color": {"type": "string"}}}


class Stranger:
    """A caller that is in no database."""

    is_authenticated = True
    is_anonymous = False


@pytest.fixture
def whoami():
    WhoAmI.runs = []
    with testing.served(WhoAmI):
        yield WhoAmI.runs


@pytest.fixture
def unstarted(monkeypatch):
    """Work is submitted and waits."""

    class Runner:
        in_process = True

        def start(self, task_id):
            pass

    monkeypatch.setattr(tasks, "runner", Runner)


@pytest.fixture
def heard():
    """What `task_changed` says."""
    found = []

    def hear(sender, **fields):
        del fields["signal"]
        found.append((sender, fields))

    signals.task_changed.connect(hear)
    yield found
    signals.task_changed.disconnect(hear)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("whoami")
class TestWorkers:
    """The tasks framework of Django with its database backend."""

    @pytest.fixture(autouse=True)
    def handlers(self):
        """A worker handles signals for the rest of its process, which is the tests' here."""
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
        before = {number: signal.getsignal(number) for number in numbers}
        yield
        for number, handler in before.items():
            signal.signal(number, handler)

    def test_a_worker_runs_what_a_site_submits(self):
        ada = Poller(user=UserFactory(username="ada"))
        task_id = ada.submit("whoami")
        assert ada.status(task_id)["status"] == "working"
        call_command("db_worker", "--batch", "--no-reload", "--no-startup-delay", verbosity=0)

        assert BackgroundTask.objects.get().status == "completed"
        assert ada.call("task_result", {"task_id": task_id})["structuredContent"] == {
            "result": {
                "user": "ada",
                "server": "default",
                "tool": "whoami",
                "task": task_id,
                "request": None,
                "headers": {},
            }
        }


@pytest.mark.django_db
@pytest.mark.usefixtures("in_memory", "unstarted")
class TestOnce:
    def test_of_many_workers_one_runs_it(self, whoami):
        task_id = Poller().submit("whoami")
        barrier = threading.Barrier(8)

        def race():
            barrier.wait(30)
            work.perform(task_id)

        racers = [threading.Thread(target=race) for _ in range(8)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join(30)

        assert whoami == [task_id]

    def test_an_unknown_task_is_nobody_s(self, whoami):
        work.perform("0")

        assert whoami == []


@pytest.mark.django_db
@pytest.mark.usefixtures("in_memory", "unstarted", "whoami")
class TestWhoever:
    @pytest.mark.parametrize(
        "gone", [lambda user: user.delete(), lambda user: setattr(user, "is_active", False) or user.save()]
    )
    def test_work_of_a_user_that_is_gone_is_not_run(self, whoami, gone):
        user = UserFactory()
        task_id = Poller(user=user).submit("whoami")
        gone(user)
        work.perform(task_id)

        assert whoami == []
        record = tasks.load(task_id)
        assert (record.status, record.status_message) == (
            "failed",
            "Whoever started it is not there any more.",
        )

    def test_work_of_somebody_in_no_database_is_not_taken(self, caplog):
        result = Poller(user=Stranger()).call("whoami")

        assert result["isError"] is True
        assert "The work of a task needs a user that can be loaded from the database." in caplog.text

    def test_nobody_s_is(self, whoami):
        task_id = Poller().submit("whoami")
        work.perform(task_id)

        assert whoami == [task_id]


@pytest.mark.usefixtures("in_memory")
class TestSignals:
    def test_every_change_is_announced(self, whoami, heard, inline):
        task_id = Poller(request_id="r1").submit("whoami")
        call = {"server": "default", "tool": "whoami", "action": None, "task": task_id}

        assert heard == [
            (WhoAmI, {**call, "request_id": "r1", "previous": None, "status": "working"}),
            (WhoAmI, {**call, "request_id": None, "previous": "working", "status": "completed"}),
        ]

    def test_a_tool_that_is_served_no_more_is_nobody_s(self, whoami, heard, unstarted):
        task_id = Poller().submit("whoami")
        heard.clear()
        with testing.served():
            tasks.cancel(tasks.load(task_id))

        assert [sender for sender, _ in heard] == [None]

    def test_nor_is_that_of_a_server_that_is_misconfigured(self, whoami, heard, unstarted, settings):
        task_id = Poller().submit("whoami")
        record = tasks.load(task_id)
        heard.clear()
        settings.DJANGO_MCP = {**settings.DJANGO_MCP, "NAME": 7}
        tasks.cancel(record)

        assert [sender for sender, _ in heard] == [None]

    def test_the_submission_and_the_work_are_a_call_each(self, whoami, inline):
        heard = []

        def hear(**fields):
            heard.append((fields["request_id"], fields["attempts"]))

        signals.tool_stopped.connect(hear)
        try:
            Poller(request_id="r1").submit("whoami")
        finally:
            signals.tool_stopped.disconnect(hear)

        assert heard == [(None, 1), ("r1", 0)]


@pytest.mark.usefixtures("in_memory", "whoami")
def test_work_that_nobody_takes_is_no_task(monkeypatch, caplog):
    class Refuses:
        def start(self, task_id):
            raise OSError("the queue is down")

    monkeypatch.setattr(tasks, "runner", Refuses)
    result = Poller().call("whoami")

    assert result["isError"] is True
    [record] = tasks.store()._records.values()
    assert (record.status, record.status_message) == ("failed", "It could not be handed to a worker.")
    assert "the queue is down" in caplog.text


@pytest.mark.django_db
@pytest.mark.usefixtures("in_memory", "unstarted", "whoami")
class TestPatience:
    """The database may be restarting while the work runs."""

    def test_the_end_is_told_when_it_is_back(self, monkeypatch):
        task_id = Poller().submit("whoami")
        failures = [OperationalError("down"), OperationalError("still down")]
        settle = tasks.settle

        def fails_first(*args, **kwargs):
            if failures:
                raise failures.pop()
            return settle(*args, **kwargs)

        monkeypatch.setattr(tasks, "settle", fails_first)
        work.perform(task_id)

        assert tasks.load(task_id).status == "completed"

    @pytest.mark.parametrize("step", ["update", "get"])
    @pytest.mark.parametrize(
        ("failures", "status"), [(10, "completed"), (11, "working")], ids=["43 seconds", "longer"]
    )
    @pytest.mark.parametrize("error", [OperationalError, InterfaceError])
    def test_it_is_waited_for_as_long_as_the_worker_counts_as_alive(
        self, monkeypatch, step, failures, status, error
    ):
        task_id = Poller().submit("whoami")
        store, left = tasks.store(), [error("down")] * failures
        asked = getattr(store, step)

        async def fails_first(*args, **kwargs):
            if left:
                raise left.pop()
            return await asked(*args, **kwargs)

        monkeypatch.setattr(store, step, fails_first)
        with testing.fake_clock() as clock:
            if status == "completed":
                work.perform(task_id, watched=False)
            else:
                with pytest.raises(error):
                    work.perform(task_id, watched=False)

        assert tasks.load(task_id).status == status
        assert clock.slept == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10, 10]
        assert sum(clock.slept) < tasks.STALE_S - tasks.HEARTBEAT_S

    def test_a_look_that_fails_is_not_the_end(self, gate, monkeypatch, caplog):
        class Waits(WhoAmI):
            name = "waits"

            def run(self, arguments, ctx):
                ctx.report_progress(1, message="one")
                assert failed.wait(30)
                return {}

        failed = threading.Event()

        def fails(self):
            failed.set()
            raise OperationalError("down")

        monkeypatch.setattr(Watch, "_tell", fails)
        with testing.served(Waits):
            task_id = Poller().submit("waits")
            work.perform(task_id)

        assert tasks.load(task_id).status == "completed"
        assert f"Task {task_id} could not be looked after." in caplog.text


class TestWatch:
    def test_a_task_cancelled_before_its_work_is_awaited_is_not_begun(self):
        ctx = Context()
        watch = Watch(record(), ctx)
        stopped = []
        watch.cancel()
        with watch.stopping(lambda: stopped.append("while awaited")):
            pass

        assert (ctx.cancelled, stopped) == (True, ["while awaited"])

    def test_what_does_not_run_here_is_not_stopped_here(self):
        work.stop("0")


@pytest.mark.usefixtures("in_memory", "unstarted", "whoami")
def test_a_worker_taken_for_dead_stops_and_changes_nothing(gate):
    class Slow(WhoAmI):
        name = "slow"

        async def run(self, arguments, ctx):
            import asyncio

            gate.begun.set()
            await asyncio.sleep(600)

    with testing.served(Slow):
        task_id = Poller().submit("slow")
        worker = threading.Thread(target=work.perform, args=[task_id])
        worker.start()
        assert gate.begun.wait(30)
        tasks.lost(tasks.load(task_id))
        worker.join(30)

    record = tasks.load(task_id)
    assert (record.status, record.status_message) == ("failed", tasks.LOST)


def test_work_is_in_no_transaction_of_the_framework_s(in_memory, inline, monkeypatch, db):
    from django.db import connections

    class Asks(WhoAmI):
        name = "asks"

        def run(self, arguments, ctx):
            return {"atomic": len(connections["default"].savepoint_ids)}

    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    with testing.served(Asks):
        before = len(connections["default"].savepoint_ids)
        task_id = Poller().submit("asks")
        result = Poller().call("task_result", {"task_id": task_id})

    assert result["structuredContent"] == {"result": {"atomic": before}}


@pytest.mark.django_db
@pytest.mark.usefixtures("in_memory", "unstarted", "whoami")
class TestLostConnections:
    """A change may be made although its worker hears of a failure."""

    @pytest.fixture
    def store(self, monkeypatch):
        """Every change is made, and the first one of each kind seems to have failed."""
        store = tasks.store()
        seen = set()
        update = store.update

        async def loses(task_id, *, where=None, **changes):
            done = await update(task_id, where=where, **changes)
            kind = changes.get("status", "claim")
            if kind not in seen:
                seen.add(kind)
                raise OperationalError("the connection is gone")
            return done

        monkeypatch.setattr(store, "update", loses)
        return store

    def test_a_worker_keeps_what_it_claimed(self, store, whoami):
        task_id = Poller().submit("whoami")
        work.perform(task_id)

        assert whoami == [task_id]
        assert tasks.load(task_id).status == "completed"

    def test_a_task_that_was_parked_goes_on(self, store):
        class Asks(WhoAmI):
            name = "asks"

            def run(self, arguments, ctx):
                return {"color": ctx.elicit("Which?", COLOR, key="color").content["color"]}

        extension = {"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}}
        with testing.served(Asks):
            ctx = testing.build_context(capabilities=extension)
            task_id = testing.run_tool("asks", ctx=ctx)["taskId"]
            work.perform(task_id)
            record = tasks.load(task_id)
            assert (record.status, list(record.questions)) == ("input_required", ["color"])
            answer = {"action": "accept", "content": {"color": "red"}}
            with pytest.raises(OperationalError):
                tasks.deliver(record, {"color": answer})
            work.perform(task_id)

        assert tasks.load(task_id).result["content"][0]["text"] == '{"color":"red"}'


@pytest.mark.django_db
@pytest.mark.parametrize("store", ["django_mcp.background.store.OrmStore", MEMORY])
@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_what_was_sent_is_forgotten_at_the_end(in_memory, unstarted, store, end):
    """It may hold secrets, and nothing runs again."""

    class Takes(WhoAmI):
        name = "takes"
        input_schema = {"type": "object", "properties": {"pin": {"type": "string", "format": "password"}}}

        def run(self, arguments, ctx):
            assert arguments == {"pin": "1234"}
            if end == "failed":
                raise ValueError("no")
            return {}

    in_memory["STORE"] = store
    with testing.served(Takes):
        task_id = Poller().submit("takes", {"pin": "1234"})
        assert tasks.load(task_id).arguments == {"pin": "1234"}
        if end == "cancelled":
            tasks.cancel(tasks.load(task_id))
        else:
            work.perform(task_id, watched=False)

    record = tasks.load(task_id)
    assert (record.status, record.arguments, record.answers) == (end, {}, {})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("message", "kept"), [("a\0b", "ab"), ("\ud800", "?"), (gettext_lazy("Yes"), "Yes"), (7, "7")]
)
def test_no_message_costs_the_result(in_memory, unstarted, message, kept):
    class Tells(WhoAmI):
        name = "tells"

        def run(self, arguments, ctx):
            ctx.report_progress(1, message=message)
            return {}

    in_memory["STORE"] = "django_mcp.background.store.OrmStore"
    with testing.served(Tells):
        task_id = Poller().submit("tells")
        work.perform(task_id, watched=False)

    record = tasks.load(task_id)
    assert (record.status, record.status_message) == ("completed", kept)
