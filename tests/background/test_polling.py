"""Background work, polled by the shared tools."""

from __future__ import annotations

import asyncio
import time

import pytest

from django_mcp import BaseTool, Tool, ToolError, action, errors, report_progress, testing
from django_mcp.background.store import MemoryStore
from django_mcp.dispatch import tasks
from tests import nul
from tests.background.conftest import MEMORY, Poller
from tests.factories import UserFactory
from tests.wire import members, text

RECEIPT = {"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"]}


class Report(BaseTool):
    """Writes a report."""

    name = "report"
    options = {"background": True}
    input_schema = {"type": "object"}
    output_schema = {"type": "object", "properties": {"pages": {"type": "integer"}}, "required": ["pages"]}

    def run(self, arguments, ctx):
        return {"pages": arguments.get("pages", 3)}


class AsyncReport(Report):
    name = "areport"

    async def run(self, arguments, ctx):
        await asyncio.sleep(0)
        return super().run(arguments, ctx)


class Books(Tool):
    """Books of the shop."""

    @action(
        description="Count them",
        properties={"shelf": {"type": "integer"}},
        required=["shelf"],
        defaults={},
        background=True,
    )
    def count(self, data, ctx):
        return {"counted": data["shelf"] * 10}

    @action(description="List them", properties={})
    def list(self, data, ctx):
        return {"books": []}


def error(code, message, *, retryable=False):
    return text(message, is_error=True, meta={"django_mcp.error": code, "django_mcp.retryable": retryable})


@pytest.mark.parametrize("tool", [Report, AsyncReport])
@pytest.mark.parametrize("run", [testing.run_tool, testing.arun_tool], ids=["sync", "async"])
def test_a_call_answers_with_the_id_of_its_task_and_nothing_else(in_memory, tool, run):
    with testing.served(tool):
        result = run(tool.name, {"pages": 5})
        result = asyncio.run(result) if asyncio.iscoroutine(result) else result
        task_id = result["structuredContent"]["task_id"]
        done = Poller().result(task_id)

    assert members(result) == {
        "content": [{"type": "text", "text": f'{{"task_id":"{task_id}"}}'}],
        "structuredContent": {"task_id": task_id},
        "isError": False,
        "_meta": {},
    }
    assert members(done) == {
        "content": [{"type": "text", "text": '{"pages":5}'}],
        "structuredContent": {"result": {"pages": 5}},
        "isError": False,
        "_meta": {},
    }


def test_the_work_goes_on_after_the_answer(client, gate):
    class Slow(Report):
        name = "slow"

        def run(self, arguments, ctx):
            gate.pass_through()
            return {"pages": 1}

    with testing.served(Slow):
        task_id = client.submit("slow")
        assert gate.begun.wait(30)
        assert client.status(task_id) == {"task_id": task_id, "status": "working", "message": None}
        waiting = client.call("task_result", {"task_id": task_id})
        gate.go_on.set()
        first, second = client.result(task_id), client.result(task_id)

    message = f"Task {task_id} is working. Ask again in a while, with task_status."
    assert members(waiting) == error("not_ready", message, retryable=True)
    assert first == second
    assert first["structuredContent"] == {"result": {"pages": 1}}


def test_an_action_may_be_background_work_and_another_of_the_same_tool_not(client):
    with testing.served(Books):
        assert testing.json(client.call("books", action="list")) == {"books": []}
        task_id = client.submit("books", action="count", data={"shelf": 4})
        done = client.result(task_id)

    assert testing.structured(done) == {"result": {"counted": 40}}


def test_wrong_arguments_make_no_task(client):
    with testing.served(Books):
        refused = client.call("books", action="count", data={"shelf": "four"})

    assert testing.error_json(refused)["error"] == "invalid_values"
    assert tasks.store()._records == {}


class TestProgress:
    def test_the_latest_message_is_the_status_message_and_stays(self, client, gate):
        class Steps(Report):
            name = "steps"

            def run(self, arguments, ctx):
                ctx.report_progress(1, 3, "first")
                ctx.report_progress(2, 3)
                report_progress(3, 3, "last")
                gate.pass_through()
                return {"pages": 1}

        with testing.served(Steps):
            task_id = client.submit("steps")
            assert gate.begun.wait(30)
            gate.go_on.set()
            client.result(task_id)
            status = client.status(task_id)

        assert status == {"task_id": task_id, "status": "completed", "message": "last"}

    def test_it_is_seen_while_the_work_runs(self, client, gate):
        class Steps(Report):
            name = "steps"

            def run(self, arguments, ctx):
                ctx.report_progress(1, message="crunching")
                gate.pass_through()
                return {"pages": 1}

        with testing.served(Steps):
            task_id = client.submit("steps")
            eventually(lambda: client.status(task_id)["message"] == "crunching")
            assert client.status(task_id)["status"] == "working"


def eventually(holds):
    """Wait for what another thread does."""
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("It did not happen.")


class TestFailure:
    @pytest.mark.parametrize(
        ("raised", "expected"),
        [
            (ToolError("no paper"), error("error", "Operation failed: no paper")),
            (
                errors.ComponentUnavailable("the printer is off"),
                error(
                    "unavailable",
                    "the printer is off\nSomething it needs is not available now; call again later.",
                    retryable=True,
                ),
            ),
        ],
    )
    def test_the_result_is_the_error_the_call_would_have_answered(self, client, raised, expected):
        class Fails(Report):
            name = "fails"

            def run(self, arguments, ctx):
                ctx.report_progress(1, message="on the way")
                raise raised

        with testing.served(Fails):
            task_id = client.submit("fails")
            result, status = client.result(task_id), client.status(task_id)

        assert members(result) == expected
        assert status == {"task_id": task_id, "status": "failed", "message": "on the way"}

    def test_what_fails_outside_of_the_tool_fails_the_task_and_no_other(self, client, gate, caplog):
        class Fine(Report):
            name = "fine"

            def run(self, arguments, ctx):
                gate.pass_through()
                return {"pages": 1}

        class Interrupts(Report):
            name = "interrupts"

            def run(self, arguments, ctx):
                raise GeneratorExit

        with testing.served(Fine, Interrupts):
            fine = client.submit("fine")
            assert gate.begun.wait(30)
            with testing_threads() as raised:
                broken = client.submit("interrupts")
                result = client.result(broken)
            gate.go_on.set()
            assert client.result(fine)["isError"] is False

        assert raised == [GeneratorExit]
        message = "The work failed outside of its tool; the site's log has it."
        assert members(result) == error("failed", f"Task {broken} is failed and has no result: {message}")
        assert f"The work of task {broken} failed outside of its tool." in caplog.text

    def test_a_tool_that_is_served_no_more_fails_it(self, client, monkeypatch):
        started = []
        monkeypatch.setattr(type(tasks.runner()), "start", lambda self, task_id: started.append(task_id))
        with testing.served(Report):
            task_id = client.submit("report")
        from django_mcp.background import work

        with testing.served(AsyncReport):
            work.perform(task_id)
            status = client.status(task_id)

        assert status == {
            "task_id": task_id,
            "status": "failed",
            "message": "The tool is not served any more.",
        }


class testing_threads:
    """What ends threads while the block runs."""

    def __enter__(self):
        import threading

        self._before, self._raised = threading.excepthook, []
        threading.excepthook = lambda hooked: self._raised.append(hooked.exc_type)
        return self._raised

    def __exit__(self, *raised):
        import threading

        threading.excepthook = self._before


class TestCancel:
    def test_work_that_reports_ends_at_its_next_report(self, client, gate):
        class Loops(Report):
            name = "loops"

            def run(self, arguments, ctx):
                gate.pass_through()
                try:
                    for step in range(100_000):
                        ctx.report_progress(step)
                        time.sleep(0.01)
                finally:
                    gate.ended.append("cleaned up")

        with testing.served(Loops):
            task_id = client.submit("loops")
            assert gate.begun.wait(30)
            asked = client.cancel(task_id)
            gate.go_on.set()
            result, status = client.result(task_id), client.status(task_id)
            again = client.cancel(task_id)

        assert asked == {"task_id": task_id, "status": "working", "message": None}
        assert status == {"task_id": task_id, "status": "cancelled", "message": "cancelled"}
        assert again == status
        assert gate.ended == ["cleaned up"]
        assert members(result) == error(
            "cancelled", f"Task {task_id} is cancelled and has no result: cancelled"
        )

    def test_work_that_is_awaited_ends_where_it_waits(self, client, gate):
        class Waits(Report):
            name = "waits"

            async def run(self, arguments, ctx):
                gate.begun.set()
                try:
                    await asyncio.sleep(600)
                finally:
                    gate.ended.append("cleaned up")

        with testing.served(Waits):
            task_id = client.submit("waits")
            assert gate.begun.wait(30)
            client.cancel(task_id)
            client.result(task_id)
            assert client.status(task_id)["status"] == "cancelled"

        assert gate.ended == ["cleaned up"]

    def test_work_that_ends_first_has_its_result(self, client, gate):
        class Finishes(Report):
            name = "finishes"

            def run(self, arguments, ctx):
                gate.pass_through()
                return {"pages": 1}

        with testing.served(Finishes):
            task_id = client.submit("finishes")
            assert gate.begun.wait(30)
            client.cancel(task_id)
            gate.go_on.set()
            assert client.result(task_id)["structuredContent"] == {"result": {"pages": 1}}
            assert client.cancel(task_id)["status"] == "completed"

    def test_work_that_has_not_begun_never_does(self, client, monkeypatch):
        monkeypatch.setattr(type(tasks.runner()), "start", lambda self, task_id: None)
        from django_mcp.background import work

        with testing.served(Report):
            task_id = client.submit("report")
            assert client.cancel(task_id) == {
                "task_id": task_id,
                "status": "cancelled",
                "message": "cancelled",
            }
            work.perform(task_id)
            assert client.status(task_id)["status"] == "cancelled"

    def test_what_a_worker_takes_in_the_same_moment_is_asked_to_stop(self, client, monkeypatch):
        monkeypatch.setattr(type(tasks.runner()), "start", lambda self, task_id: None)
        settle = tasks.settle

        def settled_too_late(record, *args, **changes):
            tasks.claim(record.task_id, "worker")
            return settle(record, *args, **changes)

        monkeypatch.setattr(tasks, "settle", settled_too_late)
        with testing.served(Report):
            task_id = client.submit("report")
            assert client.cancel(task_id)["status"] == "working"
        assert tasks.load(task_id).cancel_requested is True

    def test_work_that_cancels_itself_has_failed(self, client):
        class Gives(Report):
            name = "gives"

            async def run(self, arguments, ctx):
                raise asyncio.CancelledError

        with testing.served(Gives), testing_threads():
            task_id = client.submit("gives")
            client.result(task_id)
            assert client.status(task_id)["status"] == "failed"

    def test_the_end_of_the_process_cancels_what_runs_and_lets_it_clean_up(self, client, gate):
        class Waits(Report):
            name = "waits"

            async def run(self, arguments, ctx):
                gate.begun.set()
                try:
                    await asyncio.sleep(600)
                finally:
                    gate.ended.append("cleaned up")

        with testing.served(Waits):
            task_id = client.submit("waits")
            assert gate.begun.wait(30)
            tasks.runner().close(30)
            assert gate.ended == ["cleaned up"]
            assert client.status(task_id)["status"] == "cancelled"


class TestIds:
    @pytest.mark.parametrize("arguments", [{}, {"task_id": ""}, {"task_id": 7}, {"task_id": None}])
    @pytest.mark.parametrize("tool", ["task_status", "task_result", "task_cancel"])
    def test_a_call_without_one_is_told(self, client, tool, arguments):
        with testing.served(Report):
            result = client.call(tool, arguments)

        message = f"{tool} needs task_id: the id that a background call answered with, a string."
        assert members(result) == error("invalid_arguments", message)

    @pytest.mark.django_db
    @pytest.mark.parametrize("store", ["django_mcp.background.store.OrmStore", MEMORY])
    @pytest.mark.parametrize(
        "sent", ["7", "0" * 32, "0" * 31 + "\0", "\0", " " + "0" * 32 + "\n", "é", "x" * 100]
    )
    @pytest.mark.parametrize("tool", ["task_status", "task_result", "task_cancel"])
    def test_an_unknown_one_is_told_whatever_text_it_is(self, client, in_memory, store, tool, sent):
        in_memory["STORE"] = store
        with testing.served(Report), nul.refused():
            result = client.call(tool, {"task_id": sent})

        message = f"There is no task {sent!r}: the id is wrong, or its time is over."
        assert members(result) == error("unknown_task", message)

    @pytest.mark.django_db
    def test_somebody_else_s_is_unknown(self, in_memory, inline):
        ada, bob = Poller(user=UserFactory()), Poller(user=UserFactory())
        with testing.served(Report):
            task_id = ada.submit("report")
            ada.result(task_id)
            results = [who.call("task_result", {"task_id": task_id}) for who in (bob, Poller(), ada)]

        unknown = error(
            "unknown_task", f"There is no task '{task_id}': the id is wrong, or its time is over."
        )
        assert [members(result) for result in results[:2]] == [unknown, unknown]
        assert results[2]["isError"] is False

    def test_that_of_another_server_is_unknown(self, in_memory, settings):
        settings.DJANGO_MCP = {"TASKS": in_memory, "SERVERS": {"staff": {}}}
        with testing.served(Report):
            task_id = Poller().submit("report")
            result = Poller(server="staff").call("task_status", {"task_id": task_id})

        assert result["_meta"]["django_mcp.error"] == "unknown_task"

    def test_one_whose_time_is_over_is_unknown(self, client, in_memory, monkeypatch):
        now = [tasks.timezone.now()]
        store = MemoryStore(clock=lambda: now[0])
        monkeypatch.setattr(tasks, "store", lambda: store)
        with testing.served(Report):
            task_id = client.submit("report")
            client.result(task_id)
            now[0] += tasks.timedelta(seconds=299)
            assert client.status(task_id)["status"] == "completed"
            now[0] += tasks.timedelta(seconds=2)
            assert client.call("task_status", {"task_id": task_id})["isError"] is True

    def test_results_may_be_kept_for_good(self, client, in_memory, settings):
        settings.DJANGO_MCP = {"TASKS": {**in_memory, "RETENTION_S": None}}
        with testing.served(Report):
            task_id = client.submit("report")
            client.result(task_id)

        assert tasks.load(task_id).expires_at is None


class TestPayload:
    """What `task_result` wraps, whatever the work returned."""

    @pytest.mark.parametrize(
        ("returned", "schema", "value"),
        [
            ({"a": 1}, None, {"a": 1}),
            ([1, 2], None, [1, 2]),
            ([1, 2], {"type": "array"}, [1, 2]),
            ("a string", None, "a string"),
            ({"big": 10**30, "odd": "\x00"}, None, {"big": 10**30, "odd": "\x00"}),
        ],
    )
    def test_a_value(self, client, returned, schema, value):
        class Returns(Report):
            name = "returns"
            output_schema = schema

            def run(self, arguments, ctx):
                return returned

        with testing.served(Returns):
            result = client.result(client.submit("returns"))

        assert result["structuredContent"] == {"result": value}

    def test_text_that_is_no_json(self, client):
        class Says(Report):
            name = "says"
            output_schema = None

            def run(self, arguments, ctx):
                return ctx.text("plain text")

        with testing.served(Says):
            result = client.result(client.submit("says"))

        assert result["structuredContent"] == {"result": "plain text"}

    def test_content_that_is_no_single_text(self, client):
        class Shows(Report):
            name = "shows"
            output_schema = None

            def run(self, arguments, ctx):
                return ctx.text("a") + ctx.text("b")

        with testing.served(Shows):
            result = client.result(client.submit("shows"))

        assert [block["text"] for block in result["content"]] == ["a", "b"]
        assert result["structuredContent"] == {"result": None}


class TestBeforeSubmit:
    class Asks(Report):
        name = "asks"

        def before_submit(self, action, data, ctx):
            if data.get("refuse"):
                raise ToolError("not now")
            ctx.elicit("Go?", {"type": "object", "properties": {"copies": {"type": "integer"}}}, key="go")

        def run(self, arguments, ctx):
            answer = ctx.elicit(
                "Go?", {"type": "object", "properties": {"copies": {"type": "integer"}}}, key="go"
            )
            return {"pages": answer.content["copies"]}

    def test_what_is_asked_there_the_work_finds_answered(self, client):
        client.context = {"capabilities": {"elicitation": {}}}
        with testing.served(self.Asks):
            task_id = client.submit("asks", answers={"go": {"copies": 4}})
            result = client.result(task_id)

        assert result["structuredContent"] == {"result": {"pages": 4}}

    def test_what_is_refused_there_makes_no_task(self, client):
        with testing.served(self.Asks):
            result = client.call("asks", {"refuse": True})

        assert members(result) == error("error", "Operation failed: not now")
        assert tasks.store()._records == {}
