"""A conversation over standard input and output."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections

from django_mcp import Tool, action, conf, signals, testing
from django_mcp.server import get_server
from django_mcp.transports import stdio, streams
from example_project.tracker.models import Project
from tests.wire import ABSENT, META, MODERN, request, result, text

pytestmark = pytest.mark.django_db(transaction=True)

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "c", "version": "1"},
}


def until(holds):
    """Wait for what another thread is about to do."""
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


class Work(Tool):
    """Works."""

    begun = threading.Event()
    go = threading.Event()
    ended = threading.Event()

    @action(description="Echo", properties={"text": {"type": "string"}})
    def echo(self, data, ctx):
        return {"text": data.get("text"), "user": ctx.user.get_username(), "headers": dict(ctx.headers)}

    @action(description="Report", properties={})
    def report(self, data, ctx):
        for step in (1, 2, 3):
            ctx.report_progress(step, 3)
        return {"done": True}

    @action(description="Wait to be told", properties={})
    def wait(self, data, ctx):
        self.begun.set()
        assert self.go.wait(20)
        return {"done": True}

    @action(description="Write, and report until it is cancelled", properties={})
    def forever(self, data, ctx):
        Project.objects.create(name="p")
        self.begun.set()
        try:
            while True:
                ctx.report_progress(time.monotonic())
                time.sleep(0.001)
        finally:
            self.ended.set()

    @action(description="Report behind the back of its context once it is cancelled", properties={})
    def insist(self, data, ctx):
        self.begun.set()
        until(lambda: ctx.cancelled)
        ctx.reporter.report(1, None, None)
        self.ended.set()
        return {}

    @action(description="Ask the user", properties={})
    def ask(self, data, ctx):
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        return {"name": ctx.elicit("Who are you?", schema, key="name").content["name"]}

    @action(description="Cancel itself", properties={})
    async def give_up(self, data, ctx):
        raise asyncio.CancelledError

    @action(description="Wait until it is cancelled", properties={})
    async def sleep(self, data, ctx):
        await Project.objects.acreate(name="p")
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


@pytest.fixture(autouse=True)
def work(monkeypatch):
    for name in ("begun", "go", "ended"):
        monkeypatch.setattr(Work, name, threading.Event())
    # However slow the machine, what is given up has the time to clean up.
    monkeypatch.setattr(stdio, "GRACE_S", 60)
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    with testing.served(Work):
        yield


class Talk:
    """A conversation whose client writes lines and reads lines."""

    def __init__(self, identify=None):
        self.written = []
        self.session = stdio.Session(get_server(), self.write, identify)

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.session.close()

    def run(self, lines):
        """Read all these lines and end the conversation."""
        self.session.serve(lines)
        return self.session.close()

    def write(self, message):
        assert message.endswith(b"\n")
        assert message.count(b"\n") == 1
        self.written.append(json.loads(message))

    def say(self, value):
        self.session.receive(value if isinstance(value, bytes) else json.dumps(value).encode())

    def ask(self, value):
        """Say something and return what is answered under its id."""
        self.say(value)
        return self.answer(value["id"])

    def answer(self, id):
        until(lambda: any(one.get("id") == id for one in self.written))
        [found] = [one for one in self.written if one.get("id") == id]
        return found


@pytest.fixture
def talk():
    with Talk() as talk:
        yield talk


def call(name, data=None, *, id=1, meta=META, **more):
    arguments = {"action": name, **({} if data is None else {"data": data})}
    return request("tools/call", {"name": "work", "arguments": arguments, **more}, id=id, meta=meta)


ECHO = '{"text":"x","user":"","headers":{}}'


def test_a_modern_client_needs_no_handshake(talk):
    assert talk.ask(call("echo", {"text": "x"})) == result(text(ECHO)).body
    assert talk.ask(request("server/discover", id=2))["result"]["supportedVersions"][0] == MODERN


def test_a_legacy_client_begins_with_a_handshake_and_keeps_its_revision(talk):
    begun = talk.ask(request("initialize", INITIALIZE, meta=ABSENT))
    talk.say(request("notifications/initialized", id=ABSENT, meta=ABSENT))

    assert begun["result"]["protocolVersion"] == "2025-06-18"
    assert talk.ask(request("ping", id=2, meta=ABSENT)) == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert talk.ask(call("echo", {"text": "x"}, id=3, meta=ABSENT)) == {
        "jsonrpc": "2.0",
        "id": 3,
        "result": text(ECHO),
    }


def test_a_revision_nobody_knows_is_answered_with_the_newest_there_is(talk):
    begun = talk.ask(request("initialize", {**INITIALIZE, "protocolVersion": "1999-01-01"}, meta=ABSENT))
    assert begun["result"]["protocolVersion"] == "2025-11-25"


def test_the_era_stays_modern(talk):
    talk.ask(request("tools/list"))
    refused = talk.ask(request("initialize", INITIALIZE, id=2, meta=ABSENT))
    bare = talk.ask(request("tools/list", id=3, meta=ABSENT))
    assert (refused["error"]["code"], bare["error"]["code"]) == (-32022, -32602)


def test_the_era_stays_legacy(talk):
    talk.ask(request("initialize", INITIALIZE, meta=ABSENT))
    assert talk.ask(request("tools/list", id=2)) == {
        "jsonrpc": "2.0",
        "id": 2,
        "error": {
            "code": -32600,
            "message": "This conversation began with initialize, so its requests have no modern _meta.",
        },
    }


def test_a_notification_is_never_answered_whatever_it_carries(talk):
    talk.ask(request("initialize", INITIALIZE, meta=ABSENT))
    written = len(talk.written)
    talk.say(request("notifications/initialized", id=ABSENT))
    assert len(talk.written) == written


def test_what_comes_before_the_handshake_is_answered(talk, settings):
    assert talk.ask(request("ping", meta=ABSENT))["result"] == {}
    settings.DJANGO_MCP = {"LEGACY_VERSIONS": ["2025-11-25"]}
    with Talk() as other:
        assert other.ask(request("ping", meta=ABSENT))["result"] == {}
        begun = other.ask(request("initialize", INITIALIZE, id=2, meta=ABSENT))
        assert begun["result"]["protocolVersion"] == "2025-11-25"


def test_a_server_of_the_modern_revision_alone_says_so(settings):
    settings.DJANGO_MCP = {"LEGACY_VERSIONS": []}
    with Talk() as talk:
        assert talk.ask(request("initialize", INITIALIZE, meta=ABSENT))["error"] == {
            "code": -32022,
            "message": "Unsupported protocol version '2025-06-18'; supported are 2026-07-28.",
            "data": {"supported": ["2026-07-28"], "requested": "2025-06-18"},
        }
        assert talk.ask(request("tools/list", id=2, meta=ABSENT))["error"] == {
            "code": -32602,
            "message": "params._meta must be an object with io.modelcontextprotocol/protocolVersion and "
            "io.modelcontextprotocol/clientCapabilities.",
        }
        assert "result" in talk.ask(request("tools/list", id=3))


def test_a_handshake_of_the_modern_revision_does_not_exist(talk):
    assert talk.ask(request("initialize", INITIALIZE))["error"] == {
        "code": -32601,
        "message": "Method not found: initialize; the protocol versions served are 2026-07-28, 2025-11-25, "
        "2025-06-18, 2025-03-26",
    }


def test_a_question_is_asked_in_rounds(talk):
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    asked = talk.ask(call("ask", meta=meta))["result"]
    answers = {
        "inputResponses": {"name": {"action": "accept", "content": {"name": "Ada"}}},
        "requestState": asked["requestState"],
    }
    answered = talk.ask(call("ask", id=2, meta=meta, **answers))

    assert asked["inputRequests"]["name"]["params"]["message"] == "Who are you?"
    assert answered == result(text('{"name":"Ada"}'), id=2).body


def test_an_earlier_client_cannot_be_asked(talk):
    talk.ask(request("initialize", {**INITIALIZE, "capabilities": {"elicitation": {}}}, meta=ABSENT))
    assert talk.ask(call("ask", id=2, meta=ABSENT))["result"]["isError"] is True


def test_a_revision_that_is_not_served_is_refused(talk):
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    assert talk.ask(request("tools/list", meta=meta))["error"]["code"] == -32022


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"{", -32700, ABSENT),
        (b"\xff", -32700, ABSENT),
        (b"[]", -32600, ABSENT),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, ABSENT),
        (b'{"jsonrpc":"2.0","id":4}', -32600, 4),
        (b'{"jsonrpc":"2.0","id":4,"method":"nothing"}', -32601, 4),
    ],
)
def test_what_is_no_message_is_refused_as_over_http(talk, line, code, id):
    talk.say(line)
    [answer] = talk.written
    assert (answer["error"]["code"], answer.get("id", ABSENT)) == (code, id)


@pytest.mark.parametrize(
    "said",
    [
        request("notifications/initialized", id=ABSENT),
        request("notifications/cancelled", {"requestId": 99}, id=ABSENT),
        request("notifications/cancelled", {"requestId": [1]}, id=ABSENT),
        request("notifications/cancelled", {"requestId": True}, id=ABSENT),
        request("notifications/cancelled", id=ABSENT),
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_what_expects_no_answer_gets_none(talk, said):
    talk.say(said)
    assert talk.written == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b"{", ("Session", "stdio", "parse_error", -32700, None, None)),
        (b'{"jsonrpc":"2.0","id":4}', ("Session", "stdio", "invalid_method", -32600, None, None)),
        (
            request("tools/list", meta={}),
            ("Session", "stdio", "invalid_fields", -32602, 1, "tools/list"),
        ),
        (request("nothing"), ("Server", "dispatch", "method_not_found", -32601, 1, "nothing")),
        (
            request("tools/call", {"name": "gone"}),
            ("Server", "dispatch", "unknown_tool", -32602, 1, "tools/call"),
        ),
    ],
)
def test_a_refusal_is_announced_before_it_is_sent(talk, said, expected):
    heard = []

    async def hear(sender, *, signal, **fields):
        heard.append((sender.__name__, *(fields[key] for key in keys)))
        heard.append((fields["server"], fields["status"], [*talk.written]))

    keys = ("check", "reason", "code", "request_id", "method")
    talk.ask(request("tools/list", id=0))
    talk.written.clear()
    signals.request_rejected.connect(hear)
    try:
        talk.say(said)
        until(lambda: talk.written)
    finally:
        signals.request_rejected.disconnect(hear)
    assert heard == [expected, ("default", None, [])]


def test_a_line_over_the_limit_is_refused_and_the_next_is_read(settings):
    settings.DJANGO_MCP = {"MAX_BODY_BYTES": 400}
    talk = Talk()
    ping = json.dumps(request("tools/list")).encode()
    talk.run(io.BytesIO(b"x" * 2000 + b"\n" + b"x" * 401 + b"\n\r\n" + ping + b"\r\n" + ping))
    assert [one.get("error", {}).get("message") for one in talk.written] == [
        "The body is larger than 400 bytes; send less in a call.",
        "The body is larger than 400 bytes; send less in a call.",
        None,
        None,
    ]


def test_a_line_at_the_limit_is_read(settings):
    line = json.dumps(request("tools/list")).encode()
    settings.DJANGO_MCP = {"MAX_BODY_BYTES": len(line)}
    talk = Talk()
    talk.run(io.BytesIO(line + b"\n" + line + b"\r\n" + line + b" \n" + line))
    assert ["result" in one for one in talk.written] == [True, True, False, True]


def test_the_end_in_the_middle_of_a_line_that_is_too_long(settings):
    settings.DJANGO_MCP = {"MAX_BODY_BYTES": 400}
    talk = Talk()
    talk.run(io.BytesIO(b"x" * 1000))
    assert [one["error"]["code"] for one in talk.written] == [-32600]


def test_too_many_values_are_refused(settings):
    settings.DJANGO_MCP = {"MAX_JSON_VALUES": 10}
    with Talk() as talk:
        talk.say(request("tools/list", {"x": [1] * 20}))
        assert (
            talk.written[0]["error"]["message"]
            == "The body holds more than 10 JSON values; send fewer in a call."
        )


def test_what_nests_too_deeply_is_refused(talk):
    talk.say(b"[" * 100_000)
    assert [one["error"]["code"] for one in talk.written] == [-32700]


def test_a_slow_call_holds_up_nothing(talk):
    talk.say(call("wait", id="slow"))
    assert Work.begun.wait(20)
    assert talk.ask(request("tools/list", id=2))["id"] == 2
    assert talk.ask(call("echo", {"text": "x"}, id=3))["id"] == 3
    Work.go.set()
    assert talk.answer("slow")["result"]["content"] == [{"type": "text", "text": '{"done":true}'}]


def test_many_calls_at_once_are_all_answered(talk):
    for number in range(50):
        talk.say(call("echo", {"text": str(number)}, id=number))
    for number in range(50):
        assert json.loads(talk.answer(number)["result"]["content"][0]["text"])["text"] == str(number)


@pytest.mark.parametrize("again", [call("echo"), request("tools/list"), call("echo", id=1.0)])
def test_an_id_that_is_in_use_is_refused(talk, again):
    talk.say(call("wait"))
    assert Work.begun.wait(20)
    talk.say(again)
    assert talk.written == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32600, "message": "A call with this id is still running; ids are used once."},
        }
    ]
    # What it cannot be taken for is another id.
    talk.say(request("notifications/cancelled", {"requestId": True}, id=ABSENT))
    assert "result" in talk.ask(call("echo", id="1"))
    Work.go.set()
    until(lambda: len(talk.written) == 3)
    assert "result" in talk.written[2]


def test_progress_comes_before_the_answer(talk, one_interval):
    talk.ask(call("report", meta={**META, "progressToken": 7}))
    assert [one.get("params", {}).get("progress") for one in talk.written] == [1, 3, None]
    assert talk.written[0] == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": 7, "progress": 1, "total": 3},
    }


@pytest.fixture
def cancelled():
    heard = []

    def hear(**fields):
        heard.append(fields["action"])

    signals.tool_cancelled.connect(hear)
    yield heard
    signals.tool_cancelled.disconnect(hear)


@pytest.mark.parametrize("name", ["forever", "sleep"])
def test_a_cancelled_call_ends_and_is_never_answered(talk, name, cancelled):
    talk.say(call(name, meta={**META, "progressToken": 7}))
    assert Work.begun.wait(20)
    talk.say(request("notifications/cancelled", {"requestId": 1, "reason": "changed my mind"}, id=ABSENT))
    written = len(talk.written)
    assert Work.ended.wait(20)
    until(lambda: cancelled == [name])
    assert len(talk.written) == written
    assert not Project.objects.exists()
    # Its id may be used again.
    assert talk.ask(call("echo", {"text": "x"}))["result"]["isError"] is False


def test_nothing_is_sent_for_a_call_after_it_was_cancelled(talk):
    talk.say(call("insist", meta={**META, "progressToken": 7}))
    assert Work.begun.wait(20)
    talk.say(request("notifications/cancelled", {"requestId": 1}, id=ABSENT))
    assert Work.ended.wait(20)
    until(lambda: talk.session._running == 0)
    assert talk.written == []


def test_a_handler_that_cancels_itself_has_no_answer(talk):
    talk.say(call("give_up"))
    until(lambda: talk.session._running == 0)
    assert talk.written == []
    assert talk.ask(call("echo", {"text": "x"}))["result"]["isError"] is False


@pytest.mark.parametrize("name", ["forever", "sleep"])
def test_the_end_of_the_input_cancels_what_runs(name, cancelled):
    class Lines:
        said = [json.dumps(call(name)).encode() + b"\n"]

        def readline(self, limit):
            if self.said:
                return self.said.pop()
            assert Work.begun.wait(20)
            return b""

    talk = Talk()
    assert talk.run(Lines()) is True
    assert cancelled == [name]
    assert talk.written == []


def test_a_call_that_does_not_end_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(stdio, "GRACE_S", 0.01)
    talk = Talk()
    talk.say(call("wait"))
    assert Work.begun.wait(20)
    assert talk.session.close() is False
    Work.go.set()
    until(lambda: talk.session._running == 0)
    assert talk.written == []
    talk.session._loop._thread.join(20)


def test_calls_that_wait_for_their_turn_are_never_begun_once_it_is_over(monkeypatch):
    monkeypatch.setattr(stdio, "AT_ONCE", 1)
    talk = Talk()
    talk.say(call("sleep"))
    assert Work.begun.wait(20)
    talk.say(call("forever", id=2))
    Work.begun.clear()
    assert talk.session.close() is True
    assert not Work.begun.is_set()


def test_only_so_many_calls_run_at_once(monkeypatch):
    monkeypatch.setattr(stdio, "AT_ONCE", 2)
    with Talk() as talk:
        for number in range(3):
            talk.say(call("wait", id=number))
        talk.say(call("echo", {"text": "x"}, id="behind"))
        talk.say(request("notifications/cancelled", {"requestId": 2}, id=ABSENT))
        assert talk.ask(request("tools/list", id="list"))["id"] == "list"
        assert [one["id"] for one in talk.written] == ["list"]
        Work.go.set()
        for id in (0, 1, "behind"):
            assert talk.answer(id)["result"]["isError"] is False
        assert {one["id"] for one in talk.written} == {"list", 0, 1, "behind"}


@pytest.mark.parametrize("broken", [BrokenPipeError, OSError])
def test_a_client_that_reads_no_more_ends_the_conversation(broken, cancelled):
    def write(message):
        raise broken

    def lines():
        yield json.dumps(call("forever", id=1)).encode()
        assert Work.begun.wait(20)
        yield json.dumps(request("tools/list", id=2)).encode()
        raise AssertionError("it was asked for more")

    class Lines:
        said = lines()

        def readline(self, limit):
            return next(self.said) + b"\n"

    session = stdio.Session(get_server(), write)
    session.serve(Lines())
    assert session.close() is True
    assert cancelled == ["forever"]


def test_calls_are_those_of_the_user_of_now():
    User.objects.create(username="ada")
    with Talk(lambda: User.objects.get()) as talk:
        assert json.loads(talk.ask(call("echo"))["result"]["content"][0]["text"])["user"] == "ada"
        User.objects.update(username="eve")
        assert json.loads(talk.ask(call("echo", id=2))["result"]["content"][0]["text"])["user"] == "eve"


def test_a_call_that_asks_for_no_user_looks_for_none():
    with Talk(lambda: 1 / 0) as talk:
        assert "result" in talk.ask(request("tools/list"))


class TestTheCommand:
    @pytest.fixture
    def run(self, monkeypatch):
        """Run the command on lines; what it wrote comes back."""

        def run(*arguments, lines=b""):
            written = []
            kept = streams.Streams(
                io.BytesIO(lines) if isinstance(lines, bytes) else lines,
                lambda message: written.append(json.loads(message)),
            )
            monkeypatch.setattr(streams, "keep", lambda: kept)
            monkeypatch.setattr("signal.signal", lambda number, handler: handlers.update({number: handler}))
            handlers.clear()
            before = conf.get()
            try:
                call_command("mcp", "stdio", *arguments)
            finally:
                conf._current = before
            return written

        handlers = {}
        run.handlers = handlers
        return run

    LIST = json.dumps(request("tools/list")).encode()

    def test_it_serves_until_the_input_ends(self, run):
        [answer] = run(lines=self.LIST)
        assert [tool["name"] for tool in answer["result"]["tools"]] == ["work", "help"]

    @pytest.mark.parametrize("typed", [True, False])
    def test_who_starts_it_on_a_terminal_is_told_what_it_waits_for(self, run, capsys, typed):
        class Lines(io.BytesIO):
            def isatty(self):
                return typed

        assert run(lines=Lines()) == []
        told = "Waiting for messages of an MCP client, which starts this command itself; manage.py mcp client-config "
        assert capsys.readouterr().err == (f"{told}prints how. Ctrl-D ends it.\n" if typed else "")

    def test_a_signal_ends_it_too(self, run):
        class Lines(io.BytesIO):
            def readline(self, limit):
                [handler] = run.handlers.values()
                handler(15, None)

        assert run(lines=Lines()) == []

    @pytest.mark.parametrize("told_again", [True, False])
    def test_it_ends_even_where_a_call_does_not(self, run, monkeypatch, told_again):
        class Lines(io.BytesIO):
            said = [json.dumps(call("wait")).encode() + b"\n"]

            def readline(self, limit):
                return self.said.pop() if self.said else b""

        close = stdio.Session.close
        sessions = []

        def ending(session):
            sessions.append(session)
            assert Work.begun.wait(20)
            if told_again:
                [handler] = run.handlers.values()
                handler(15, None)
            return close(session)

        left = []
        monkeypatch.setattr(stdio, "GRACE_S", 0.01)
        monkeypatch.setattr(stdio.Session, "close", ending)
        monkeypatch.setattr("os._exit", left.append)
        monkeypatch.setattr("logging.shutdown", lambda: None)
        assert run(lines=Lines()) == []
        assert left == [0]
        Work.go.set()
        monkeypatch.setattr(stdio, "GRACE_S", 20)
        if told_again:
            assert close(sessions[0]) is True
        sessions[0]._loop._thread.join(20)

    def test_it_serves_a_user(self, run):
        User.objects.create(username="ada")
        User.objects.create(username="bob", is_active=False)
        assert run("--user", "ada") == []
        with pytest.raises(CommandError, match="There is no user 'eve'"):
            run("--user", "eve")
        with pytest.raises(CommandError, match="The user 'bob' is not active"):
            run("--user", "bob")

    def test_filters_narrow_what_is_served(self, run):
        class Other(Work):
            """Other."""

            tags = {"public"}

        with testing.served(Work, Other):
            [tagged] = run("--tag", "public", lines=self.LIST)
            [included] = run("--include", "w*", lines=self.LIST)
            [excluded] = run("--exclude", "work", lines=self.LIST)
        assert [tool["name"] for tool in tagged["result"]["tools"]] == ["other", "help"]
        assert [tool["name"] for tool in included["result"]["tools"]] == ["work", "help"]
        assert [tool["name"] for tool in excluded["result"]["tools"]] == ["other", "help"]

    def test_filters_never_widen_what_the_settings_say(self, run, settings):
        class Other(Work):
            """Other."""

        settings.DJANGO_MCP = {"INCLUDE": ["other"]}
        with testing.served(Work, Other):
            [included] = run("--include", "*", lines=self.LIST)
            with pytest.raises(CommandError, match="INCLUDE pattern 'work' matches no tool of other"):
                run("--include", "work")
        assert [tool["name"] for tool in included["result"]["tools"]] == ["other", "help"]

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["--tag", "x"], r"TAGS names x; declared tags are none\. Correct the tag"),
            (["--include", "x", "--exclude", "y"], "INCLUDE pattern 'x'(?s:.)*EXCLUDE pattern 'y'"),
            (["--exclude", "help"], "EXCLUDE pattern 'help' matches no tool of work"),
            (["--include", "x"], "INCLUDE pattern 'x' matches no tool of work"),
            (["--exclude", "x"], "EXCLUDE pattern 'x' matches no tool of work"),
            (["--exclude", "work"], "its filters leave no tool to serve"),
            (["--server", "x"], "There is no server 'x'"),
        ],
    )
    def test_a_filter_that_names_nothing_is_refused(self, run, arguments, problem):
        with pytest.raises(CommandError, match=problem):
            run(*arguments)
