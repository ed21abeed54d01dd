"""Tasks of the protocol, for clients that declare the extension (MCP tasks extension)."""

from __future__ import annotations

import json
import re
import threading

import pytest

from django_mcp import BaseTool, Context, get_server, testing
from django_mcp.background import work
from django_mcp.dispatch import tasks
from django_mcp.protocol.jsonrpc import Message
from tests import nul
from tests.asking import accepted, form
from tests.wire import META, SERVER_INFO, P, refused, result, text

pytestmark = pytest.mark.usefixtures("in_memory")

EXTENSION = "io.modelcontextprotocol/tasks"
NATIVE = {**META, f"{P}clientCapabilities": {"elicitation": {}, "extensions": {EXTENSION: {}}}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Report(BaseTool):
    """Writes a report."""

    name = "report"
    options = {"background": True}
    input_schema = {"type": "object"}
    output_schema = {"type": "object", "required": ["pages"]}

    def run(self, arguments, ctx):
        return {"pages": 3}


class Letter(Report):
    """Writes a letter to whoever the user says."""

    name = "letter"
    output_schema = None

    def run(self, arguments, ctx):
        name = ctx.elicit("To whom?", NAME, key="to").content["name"]
        copies = ctx.request_input({"copies": form("How many?", NAME), "paper": form("Which?", NAME)})
        return {"to": name, "copies": copies["copies"], "paper": copies["paper"]}


class Lacking(Report):
    """Needs a client that samples."""

    name = "lacking"

    def run(self, arguments, ctx):
        ctx.require({"sampling": {}})


class AsyncLetter(Letter):
    name = "aletter"

    async def run(self, arguments, ctx):
        return Letter.run(self, arguments, ctx)


@pytest.fixture
def client(wire):
    with testing.served(Report, Letter, AsyncLetter, Lacking):
        yield Native(wire)


class Native:
    def __init__(self, wire):
        self.wire = wire

    def send(self, method, params, meta=NATIVE):
        return self.wire.modern(method, params, meta=meta)

    def submit(self, tool):
        """What a call answers, without its times, which are judged here."""
        answer = self.send("tools/call", {"name": tool})
        return self._timeless(answer.body["result"])

    def get(self, task_id):
        tasks.runner().join(task_id, 30)
        answer = self.send("tasks/get", {"taskId": task_id})
        return self._timeless(answer.body["result"])

    def update(self, task_id, **responses):
        return self.send("tasks/update", {"taskId": task_id, "inputResponses": responses})

    def cancel(self, task_id):
        return self.send("tasks/cancel", {"taskId": task_id})

    @staticmethod
    def _timeless(task):
        assert TIME.fullmatch(task.pop("createdAt"))
        assert TIME.fullmatch(task.pop("lastUpdatedAt"))
        return task


ACKNOWLEDGED = result({})


def task(task_id, status, kind="complete", **members):
    stamps = {"resultType": kind, "_meta": SERVER_INFO}
    return {**stamps, "taskId": task_id, "status": status, "ttlMs": None, "pollIntervalMs": 1000, **members}


def settled(shown):
    """A settled task without its time to live, which is the work's own and the retention."""
    assert shown["ttlMs"] >= 300_000
    return {**shown, "ttlMs": None}


def test_a_call_answers_with_a_task(client):
    created = client.submit("report")

    task_id = created["taskId"]
    assert re.fullmatch("[0-9a-f]{32}", task_id)
    assert created == task(task_id, "working", "task")
    done = {**text('{"pages":3}'), "structuredContent": {"pages": 3}}
    assert settled(client.get(task_id)) == task(task_id, "completed", result=done)


def test_a_client_without_the_extension_gets_no_task(client):
    answer = client.send("tools/call", {"name": "report"}, META).body["result"]

    assert answer["resultType"] == "complete"
    assert answer["structuredContent"] == {"task_id": answer["structuredContent"]["task_id"]}


class TestInput:
    @pytest.mark.parametrize("tool", ["letter", "aletter"])
    def test_work_asks_and_goes_on_with_the_answers(self, client, tool):
        task_id = client.submit(tool)["taskId"]
        asking = client.get(task_id)
        assert asking.pop("ttlMs") >= 600_000
        expected = task(task_id, "input_required", inputRequests={"to": form("To whom?", NAME)})
        assert asking == {key: value for key, value in expected.items() if key != "ttlMs"}

        assert client.update(task_id, to=accepted(name="Ada"), nonsense={"a": 1}) == ACKNOWLEDGED
        assert list(client.get(task_id)["inputRequests"]) == ["copies", "paper"]

        assert client.update(task_id, copies=accepted(name="two")) == ACKNOWLEDGED
        asking = client.get(task_id)
        assert (asking["status"], list(asking["inputRequests"])) == ("input_required", ["paper"])

        assert client.update(task_id, copies=accepted(name="nine"), to=accepted(name="Eve")) == ACKNOWLEDGED
        assert client.update(task_id, paper=accepted(name="thick")) == ACKNOWLEDGED
        done = client.get(task_id)
        assert done["status"] == "completed"
        assert done["result"]["content"][0]["text"] == (
            '{"to":"Ada","copies":{"action":"accept","content":{"name":"two"}},'
            '"paper":{"action":"accept","content":{"name":"thick"}}}'
        )
        assert client.update(task_id, paper=accepted(name="thin")) == ACKNOWLEDGED

    def test_work_that_goes_on_is_not_lost_sight_of(self, client, gate, monkeypatch):
        """An answer may come before the thread that asked has ended."""
        asked, answered, perform = threading.Event(), threading.Event(), work.perform

        def lingering(task_id):
            if asked.is_set():
                gate.pass_through()
            perform(task_id)
            if not asked.is_set():
                asked.set()
                assert answered.wait(30)

        monkeypatch.setattr(work, "perform", lingering)
        task_id = client.submit("letter")["taskId"]
        assert asked.wait(30)
        [first] = tasks.runner()._running.values()
        client.update(task_id, to=accepted(name="Ada"))
        assert gate.begun.wait(30)
        answered.set()
        first.join(30)
        assert [*tasks.runner()._running] == [task_id]
        gate.go_on.set()

        assert list(client.get(task_id)["inputRequests"]) == ["copies", "paper"]

    def test_an_answer_that_does_not_fit_is_asked_again_under_another_key(self, client):
        task_id = client.submit("letter")["taskId"]
        client.get(task_id)

        for key, asked in (("to", "to-2"), ("to-2", "to-3")):
            client.update(task_id, **{key: accepted(name=7)})
            assert client.get(task_id)["inputRequests"] == {asked: form("To whom?", NAME)}

        client.update(task_id, **{"to-3": accepted(name="Ada")})
        assert list(client.get(task_id)["inputRequests"]) == ["copies", "paper"]

    def test_two_answers_at_once_are_both_taken(self, client, monkeypatch):
        task_id = client.submit("letter")["taskId"]
        client.get(task_id)
        client.update(task_id, to=accepted(name="Ada"))
        client.get(task_id)
        record = tasks.load(task_id)
        late = tasks.replace(record)
        tasks.deliver(record, {"copies": accepted(name="two")})
        tasks.deliver(late, {"paper": accepted(name="thick")})

        done = client.get(task_id)
        assert (done["status"], done["result"]["isError"]) == ("completed", False)

    def test_an_answer_to_a_task_that_is_gone_is_passed_over(self, client):
        task_id = client.submit("letter")["taskId"]
        client.get(task_id)
        record = tasks.load(task_id)
        tasks.cancel(record)

        tasks.deliver(record, {"to": accepted(name="Ada")})
        assert client.get(task_id)["status"] == "cancelled"

    def test_a_task_that_waits_can_be_cancelled(self, client):
        task_id = client.submit("letter")["taskId"]
        client.get(task_id)

        assert client.cancel(task_id) == ACKNOWLEDGED
        assert settled(client.get(task_id)) == task(task_id, "cancelled", statusMessage="cancelled")
        assert client.cancel(task_id) == ACKNOWLEDGED
        assert client.update(task_id, to=accepted(name="Ada")) == ACKNOWLEDGED
        assert client.get(task_id)["status"] == "cancelled"

    def test_a_client_that_cannot_be_asked_is_not(self, client):
        meta = {**META, f"{P}clientCapabilities": {"extensions": {EXTENSION: {}}}}
        task_id = client.send("tools/call", {"name": "letter"}, meta).body["result"]["taskId"]

        done = client.get(task_id)
        assert done["status"] == "completed"
        assert done["result"]["isError"] is True

    def test_work_that_is_cancelled_while_it_asks_is_over(self, client, gate, wire):
        class Late(Letter):
            name = "late"

            def run(self, arguments, ctx):
                gate.pass_through()
                return super().run(arguments, ctx)

        with testing.served(Late):
            task_id = client.submit("late")["taskId"]
            assert gate.begun.wait(30)
            client.cancel(task_id)
            gate.go_on.set()
            assert client.get(task_id)["status"] == "cancelled"


class TestFailure:
    def test_a_tool_s_error_completes_the_task(self, client):
        class Fails(Report):
            name = "fails"

            def run(self, arguments, ctx):
                raise testing_error

        testing_error = ValueError("secret")
        with testing.served(Fails):
            done = client.get(client.submit("fails")["taskId"])

        assert done["status"] == "completed"
        assert done["result"]["isError"] is True
        assert "secret" not in str(done)

    def test_a_capability_that_is_missing_fails_it(self, client):
        task_id = client.submit("lacking")["taskId"]

        message = "The client lacks sampling"
        error = {"code": -32021, "message": message, "data": {"requiredCapabilities": {"sampling": {}}}}
        assert settled(client.get(task_id)) == task(task_id, "failed", statusMessage=message, error=error)

    def test_so_does_a_worker_that_is_gone(self, client, monkeypatch):
        monkeypatch.setattr(type(tasks.runner()), "start", lambda self, task_id: None)
        task_id = client.submit("report")["taskId"]
        record = tasks.claim(task_id, "worker")
        store = tasks.store()
        store._records[task_id] = tasks.replace(
            record, heartbeat_at=record.heartbeat_at - tasks.timedelta(seconds=61)
        )

        assert settled(client.get(task_id)) == task(
            task_id,
            "failed",
            statusMessage=tasks.LOST,
            error={"code": -32603, "message": tasks.LOST},
        )


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
class TestRefusals:
    def params(self, method, **params):
        return params | ({"inputResponses": {}} if method == "tasks/update" else {})

    def test_without_the_extension(self, client, method):
        required = {"extensions": {EXTENSION: {}}}
        message = (
            "This call needs client capabilities that the request does not declare: "
            f'{{"extensions":{{"{EXTENSION}":{{}}}}}}'
        )
        answer = client.send(method, self.params(method, taskId="0"), META)

        assert answer == refused(
            "dispatch",
            "missing_capability",
            400,
            -32021,
            message,
            data={"requiredCapabilities": required},
        )

    def test_an_unknown_id(self, client, method):
        message = "Unknown task: 0. Its id is wrong, or its time is over."
        answer = client.send(method, self.params(method, taskId="0"))

        assert answer == refused("dispatch", "unknown_task", 400, -32602, message)

    @pytest.mark.django_db
    @pytest.mark.parametrize("sent", ["0" * 32, "0" * 31 + "\0", "a\0", "é"])
    def test_one_that_no_database_can_hold_is_unknown(self, client, in_memory, method, sent):
        in_memory["STORE"] = "django_mcp.background.store.OrmStore"
        speaker = testing.Client(capabilities=NATIVE[f"{P}clientCapabilities"])
        with nul.refused(), pytest.raises(testing.JSONRPCError) as raised:
            speaker.send(method, self.params(method, taskId=sent))

        assert (raised.value.code, raised.value.message) == (
            -32602,
            f"Unknown task: {sent}. Its id is wrong, or its time is over.",
        )

    def test_no_id(self, client, method):
        message = "params.taskId must be a string that names a task."

        assert client.send(method, self.params(method)) == refused(
            "fields", "invalid_fields", 400, -32602, message
        )

    def test_another_id_in_the_header(self, client, method):
        message = "The header Mcp-Name is '1' but the body says '0'."
        params = self.params(method, taskId="0")
        answer = client.wire.modern(method, params, meta=NATIVE, headers={"Mcp-Name": "1"})

        assert answer == refused("binding", "header_mismatch", 400, -32020, message)


@pytest.mark.parametrize("params", [{}, {"taskId": 7}, {"taskId": None}])
def test_without_http_an_id_is_judged_where_the_request_is_answered(params):
    message = Message(True, 1, "tasks/get", params)
    message.version = "2026-07-28"
    with testing.served(Report):
        response = get_server().handle(message, Context())

    error = {"code": -32602, "message": "params.taskId must be a string that names a task."}
    assert json.loads(response.body)["error"] == error


def test_answers_are_an_object(client):
    message = "params.inputResponses must be an object of result objects."
    answer = client.send("tasks/update", {"taskId": "0", "inputResponses": []})

    assert answer == refused("dispatch", "invalid_params", 400, -32602, message)


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
def test_methods_of_an_earlier_draft_do_not_exist(client, method):
    answer = client.send(method, {"taskId": "0"})

    assert answer == refused("dispatch", "method_not_found", 404, -32601, f"Method not found: {method}")


def test_the_server_says_that_it_has_tasks(client):
    found = client.send("server/discover", {}).body["result"]["capabilities"]

    assert found == {"tools": {}, "extensions": {EXTENSION: {}}}


def test_such_a_client_sees_none_of_the_shared_tools_and_the_tools_as_they_are(client):
    listed = {tool["name"]: tool for tool in client.send("tools/list", {}).body["result"]["tools"]}

    assert list(listed) == ["report", "letter", "aletter", "lacking", "help"]
    assert listed["report"]["description"] == "Writes a report."
    assert listed["report"]["outputSchema"] == Report.output_schema
    unknown = client.send("tools/call", {"name": "task_status", "arguments": {"task_id": "0"}})
    assert unknown.body["error"]["code"] == -32602
