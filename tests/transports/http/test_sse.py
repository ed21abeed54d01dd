"""Calls whose progress the client hears: a stream, and what closing it does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections
from django.test import AsyncRequestFactory, RequestFactory

from django_mcp import BaseTool, Policy, Timeout, Tool, ToolError, action, report_progress, signals, testing
from django_mcp.protocol import jsonrpc, versions
from django_mcp.server import get_server
from django_mcp.transports.calls import Call
from django_mcp.transports.http.channel import Channel
from django_mcp.views import AsyncMCPView, MCPView
from example_project.tracker.models import Project
from tests.wire import META, MODERN, implied, request, result, text

pytestmark = pytest.mark.django_db(transaction=True)

LISTENING = {**META, "progressToken": "t1"}
HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}


class Gate:
    """Lets a test and a handler wait for one another."""

    def __init__(self):
        self.events = {name: threading.Event() for name in ("begun", "go", "ended")}

    def __getattr__(self, name):
        return self.events[name]

    def wait(self, name):
        assert self.events[name].wait(20), name


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture(params=["sync", "async"])
def tool(request, gate, monkeypatch):
    """A tool whose handlers are plain or async, and say when they begin and end."""

    def reporting(data, ctx):
        ctx.report_progress(1, 3, "one")
        yield
        report_progress(2, 3)
        yield
        ctx.report_progress(3)

    class Plain(Tool):
        name = "work"
        description = "Works."

        @action(description="Report", properties={})
        def report(self, data, ctx):
            for _ in reporting(data, ctx):
                pass
            return {"done": True}

        @action(description="Say nothing", properties={})
        def quiet(self, data, ctx):
            return {"done": True}

        @action(description="Fail after progress", properties={})
        def fail(self, data, ctx):
            ctx.report_progress(1)
            raise ToolError("lost")

        @action(description="Ask for a capability after progress", properties={})
        def demand(self, data, ctx):
            ctx.report_progress(1)
            ctx.require({"sampling": {}})

        @action(description="Report, wait to be told, and go on", properties={})
        def wait(self, data, ctx):
            Project.objects.create(name="p")
            ctx.report_progress(1)
            gate.begun.set()
            try:
                gate.wait("go")
                while True:
                    ctx.report_progress(time.monotonic())
            finally:
                gate.ended.set()

    class Awaited(Tool):
        name = "work"
        description = "Works."

        @action(description="Report", properties={})
        async def report(self, data, ctx):
            for _ in reporting(data, ctx):
                await asyncio.sleep(0)
            return {"done": True}

        @action(description="Say nothing", properties={})
        async def quiet(self, data, ctx):
            return {"done": True}

        @action(description="Fail after progress", properties={})
        async def fail(self, data, ctx):
            ctx.report_progress(1)
            raise ToolError("lost")

        @action(description="Ask for a capability after progress", properties={})
        async def demand(self, data, ctx):
            ctx.report_progress(1)
            ctx.require({"sampling": {}})

        @action(description="Report, wait, and be cancelled", properties={})
        async def wait(self, data, ctx):
            await Project.objects.acreate(name="p")
            ctx.report_progress(1)
            gate.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                gate.ended.set()

    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    with testing.served(Plain if request.param == "sync" else Awaited):
        yield request.param


def call(name, meta=LISTENING, **params):
    return request("tools/call", {"name": "work", "arguments": {"action": name}, **params}, meta=meta)


class WSGI:
    """One of the views as a WSGI server runs it."""

    def __init__(self, view):
        self.view = view

    def post(self, value, **headers):
        factory = RequestFactory()
        made = self._made(factory, value, headers)
        if self.view is AsyncMCPView:
            return made, async_to_sync(self.view.as_view())(made)
        return made, self.view.as_view()(made)

    @staticmethod
    def _made(factory, value, headers):
        sent = {"Accept": "application/json, text/event-stream", **implied(value), **headers}
        return factory.post("/mcp", json.dumps(value), content_type="application/json", headers=sent)

    def read(self, response):
        return b"".join(response.streaming_content)

    def close_after_first(self, response):
        """Read up to the first event, then go away."""
        body = iter(response.streaming_content)
        next(body)
        response.close()


class ASGI(WSGI):
    """One of the views as an ASGI server runs it."""

    def post(self, value, **headers):
        return async_to_sync(self._post)(value, headers)

    async def _post(self, value, headers):
        made = self._made(AsyncRequestFactory(), value, headers)
        if self.view is AsyncMCPView:
            response = await self.view.as_view()(made)
        else:
            response = await sync_to_async(self.view.as_view(), thread_sensitive=True)(made)
        return made, response


async def drained(response):
    return b"".join([part async for part in response.streaming_content])


@pytest.fixture(params=["MCPView on WSGI", "AsyncMCPView on WSGI", "MCPView on ASGI", "AsyncMCPView on ASGI"])
def talk(request):
    """Post a call and read its answer: the response and all that it holds."""
    view = AsyncMCPView if request.param.startswith("Async") else MCPView

    def on_wsgi(value, **headers):
        made, response = WSGI(view).post(value, **headers)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        response.close()
        return made, response, body

    @async_to_sync
    async def on_asgi(value, **headers):
        made, response = await ASGI(view)._post(value, headers)
        body = await drained(response) if response.streaming else response.content
        return made, response, body

    return on_wsgi if request.param.endswith("WSGI") else on_asgi


def events(body):
    """The messages of a stream, comments left out."""
    found = []
    for block in body.decode().split("\n\n"):
        if block and not block.startswith(":"):
            kind, data = block.split("\n")
            assert kind == "event: message"
            found.append(json.loads(data.removeprefix("data: ")))
    return found


def progress(value, total=None, message=None, token="t1"):
    stated = {"progressToken": token, "progress": value, "total": total, "message": message}
    params = {key: one for key, one in stated.items() if one is not None}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def done():
    return result(text('{"done":true}')).body


def test_progress_arrives_before_the_one_answer(tool, talk, one_interval):
    _, response, body = talk(call("report"))

    assert response.status_code == 200
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    # What comes faster than ten a second is left out, except for the last.
    assert events(body) == [progress(1, 3, "one"), progress(3), done()]


@pytest.mark.parametrize("token", ["t1", "", 0, 7])
def test_the_token_keeps_its_type(tool, talk, token):
    _, _, body = talk(call("report", meta={**META, "progressToken": token}))

    assert events(body)[0] == progress(1, 3, "one", token=token)


def test_progress_is_heard_where_a_tool_mirrors_arguments_too(talk):
    """What the caller sees has been asked for before the call begins then."""

    class Mirrors(BaseTool):
        """Mirrors."""

        input_schema = {"type": "object", "properties": {"t": {"type": "string", "x-mcp-header": "T"}}}

        def run(self, arguments, ctx):
            ctx.report_progress(1)
            return {}

    value = request("tools/call", {"name": "mirrors", "arguments": {"t": "x"}}, meta=LISTENING)
    with testing.served(Mirrors):
        _, _, body = talk(value, **{"Mcp-Param-T": "x"})

    assert events(body) == [progress(1), result(text("{}")).body]


def test_a_legacy_client_hears_progress_too(tool, talk, one_interval):
    value = request(
        "tools/call", {"name": "work", "arguments": {"action": "report"}}, meta={"progressToken": 1}
    )
    _, _, body = talk(value, **{"MCP-Protocol-Version": "2025-06-18"})

    assert events(body) == [
        progress(1, 3, "one", token=1),
        progress(3, token=1),
        {"jsonrpc": "2.0", "id": 1, "result": text('{"done":true}')},
    ]


@pytest.mark.parametrize("token", [None, 1.5, True, {}])
def test_a_legacy_client_whose_token_is_none_hears_no_progress(tool, talk, token):
    value = request(
        "tools/call", {"name": "work", "arguments": {"action": "report"}}, meta={"progressToken": token}
    )
    _, response, body = talk(value, **{"MCP-Protocol-Version": "2025-06-18"})

    assert response.headers["Content-Type"] == "application/json"
    assert json.loads(body) == {"jsonrpc": "2.0", "id": 1, "result": text('{"done":true}')}


@pytest.mark.parametrize(
    ("name", "meta", "headers"),
    [
        ("quiet", LISTENING, {}),
        ("report", META, {}),
        ("report", LISTENING, {"Accept": "application/json"}),
        ("report", LISTENING, {"Accept": "*/*"}),
    ],
)
def test_without_progress_or_who_would_read_it_the_answer_is_json(tool, talk, name, meta, headers):
    _, response, body = talk(call(name, meta=meta), **headers)

    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    assert json.loads(body) == done()


def test_a_refusal_before_any_progress_keeps_its_status_and_its_mark(tool, talk):
    value = call("quiet", inputResponses={}, requestState="forged")
    made, response, body = talk(value)

    assert (response.status_code, made.mcp_rejection.reason) == (400, "invalid_request_state")
    assert json.loads(body)["error"]["code"] == -32602


def test_an_error_of_the_tool_ends_the_stream(tool, talk):
    _, _, body = talk(call("fail"))

    meta = {"django_mcp.error": "error", "django_mcp.retryable": False}
    assert events(body) == [
        progress(1),
        result(text("Operation failed: lost", is_error=True, meta=meta)).body,
    ]


def test_a_refusal_after_progress_ends_the_stream_and_is_announced(tool, talk):
    heard = []

    def hear(**fields):
        heard.append((fields["reason"], fields["code"]))

    signals.request_rejected.connect(hear)
    try:
        made, response, body = talk(call("demand"))
    finally:
        signals.request_rejected.disconnect(hear)

    assert response.status_code == 200
    assert [event.get("error", {}).get("code") for event in events(body)] == [None, -32021]
    assert (made.mcp_rejection.reason, heard) == ("missing_capability", [("missing_capability", -32021)])


def test_a_misconfigured_server_is_told_in_json(talk):
    class Wrong(Tool):
        """Wrong."""

    with testing.served(Wrong):
        _, response, body = talk(call("report"))

    assert (response.status_code, json.loads(body)["error"]["code"]) == (200, -32603)


def test_other_methods_are_never_streamed(tool, talk):
    _, response, _ = talk(request("tools/list", meta=LISTENING))

    assert response.headers["Content-Type"] == "application/json"


@pytest.fixture
def cancelled():
    """What the signal of calls that were given up says."""
    heard = []

    def hear(**fields):
        heard.append((fields["tool"], fields["action"]))

    signals.tool_cancelled.connect(hear)
    yield heard
    signals.tool_cancelled.disconnect(hear)


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
def test_closing_a_stream_gives_the_call_up(tool, gate, view, cancelled):
    _, response = WSGI(view).post(call("wait"))
    gate.wait("begun")
    next(iter(response.streaming_content))
    response.close()
    gate.go.set()
    gate.wait("ended")

    until(lambda: cancelled == [("work", "wait")])
    assert not Project.objects.exists()


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
async def test_a_stream_whose_reader_is_cancelled_gives_the_call_up(tool, gate, view, cancelled):
    _, response = await ASGI(view)._post(call("wait"), {})
    reader = asyncio.create_task(drained(response))
    assert await asyncio.to_thread(gate.begun.wait, 20)
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    gate.go.set()
    assert await asyncio.to_thread(gate.ended.wait, 20)

    await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])
    assert not await Project.objects.aexists()


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
@pytest.mark.parametrize("meta", [LISTENING, META])
async def test_a_view_that_is_cancelled_before_any_progress_gives_the_call_up(gate, cancelled, view, meta):
    class Slow(Tool):
        name = "work"
        description = "Works."

        @action(description="Wait", properties={})
        async def wait(self, data, ctx):
            gate.begun.set()
            await asyncio.Event().wait()

    with testing.served(Slow):
        serving = asyncio.create_task(ASGI(view)._post(call("wait", meta=meta), {}))
        assert await asyncio.to_thread(gate.begun.wait, 20)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
async def test_a_plain_handler_sees_that_its_view_was_cancelled_before_any_progress(gate, cancelled, view):
    class Slow(Tool):
        name = "work"
        description = "Works."

        @action(description="Wait", properties={})
        def wait(self, data, ctx):
            gate.begun.set()
            until(lambda: ctx.cancelled)
            ctx.report_progress(1)

    with testing.served(Slow):
        serving = asyncio.create_task(ASGI(view)._post(call("wait"), {}))
        assert await asyncio.to_thread(gate.begun.wait, 20)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
def test_a_stream_that_nobody_reads_gives_its_call_up(tool, gate, view, cancelled):
    """A middleware may answer with something else, or fail."""
    _, response = WSGI(view).post(call("wait"))
    gate.wait("begun")
    del response
    gate.go.set()

    until(lambda: cancelled == [("work", "wait")])
    assert not Project.objects.exists()


@pytest.mark.parametrize("view", [MCPView, AsyncMCPView])
async def test_a_stream_that_nobody_reads_on_an_event_loop_gives_its_call_up(tool, gate, view, cancelled):
    _, response = await ASGI(view)._post(call("wait"), {})
    assert await asyncio.to_thread(gate.begun.wait, 20)
    response.close()
    gate.go.set()

    await asyncio.to_thread(until, lambda: cancelled == [("work", "wait")])
    assert not await Project.objects.aexists()


def test_a_handler_that_catches_what_ends_it_is_given_up_all_the_same(gate, cancelled):
    class Stubborn(Tool):
        name = "work"
        description = "Works."

        @action(description="Go on", properties={})
        def wait(self, data, ctx):
            ctx.report_progress(1)
            until(lambda: ctx.cancelled)
            with contextlib.suppress(BaseException):
                ctx.report_progress(2)
            return {"done": True}

    with testing.served(Stubborn):
        _, response = WSGI(MCPView).post(call("wait"))
        response.close()
        until(lambda: cancelled == [("work", "wait")])


def test_cleaning_up_is_not_cancelled_however_often_a_call_is(gate, cancelled):
    class Careful(Tool):
        name = "work"
        description = "Works."

        @action(description="Clean up", properties={})
        async def wait(self, data, ctx):
            ctx.report_progress(1)
            try:
                await asyncio.Event().wait()
            finally:
                gate.begun.set()
                await asyncio.to_thread(gate.wait, "go")
                gate.ended.set()

    with testing.served(Careful):
        _, response = WSGI(MCPView).post(call("wait"))
        body = response.streaming_content
        response.close()
        gate.wait("begun")
        response.close()
        del response, body
        gate.go.set()
        gate.wait("ended")
        until(lambda: cancelled == [("work", "wait")])


async def test_a_plain_call_whose_view_is_cancelled_ends_at_its_next_report(gate, cancelled):
    class Slow(Tool):
        name = "work"
        description = "Works."

        @action(description="Wait", properties={})
        def wait(self, data, ctx):
            gate.begun.set()
            gate.wait("go")
            while not ctx.cancelled:
                time.sleep(0.001)
            ctx.report_progress(1)

    with testing.served(Slow):
        view = asyncio.create_task(ASGI(AsyncMCPView)._post(call("wait", meta=META), {}))
        assert await asyncio.to_thread(gate.begun.wait, 20)
        view.cancel()
        gate.go.set()
        with pytest.raises(asyncio.CancelledError):
            await view
    assert cancelled == [("work", "wait")]


def test_a_quiet_stream_is_kept_alive(gate, settings):
    settings.DJANGO_MCP = {"STREAM_KEEPALIVE_S": 0.01}

    class Slow(Tool):
        name = "work"
        description = "Works."

        @action(description="Wait", properties={})
        def wait(self, data, ctx):
            ctx.report_progress(1)
            gate.wait("go")
            return {"done": True}

    with testing.served(Slow):
        _, response = WSGI(MCPView).post(call("wait"))
        parts = iter(response.streaming_content)
        assert [next(parts), next(parts)][1] == b": keep-alive\n\n"
        gate.go.set()
        assert events(b"".join(parts)) == [done()]


async def test_a_quiet_stream_is_kept_alive_on_an_event_loop(gate, settings):
    settings.DJANGO_MCP = {"STREAM_KEEPALIVE_S": 0.01}

    class Slow(Tool):
        name = "work"
        description = "Works."

        @action(description="Wait", properties={})
        async def wait(self, data, ctx):
            ctx.report_progress(1)
            await asyncio.to_thread(gate.wait, "go")
            return {"done": True}

    with testing.served(Slow):
        _, response = await ASGI(AsyncMCPView)._post(call("wait"), {})
        parts = aiter(response.streaming_content)
        assert [await anext(parts), await anext(parts)][1] == b": keep-alive\n\n"
        gate.go.set()
        assert events(b"".join([part async for part in parts])) == [done()]


def test_the_call_sees_what_middleware_has_bound_and_binds_nothing_for_others(talk):
    import contextvars

    bound = contextvars.ContextVar("bound", default="nothing")

    class Reads(Tool):
        name = "work"
        description = "Works."

        @action(description="Read", properties={})
        def report(self, data, ctx):
            ctx.report_progress(1)
            seen = bound.get()
            bound.set("changed")
            return {"seen": seen}

    bound.set("here")
    with testing.served(Reads):
        _, _, body = talk(call("report"))
    assert events(body)[-1] == result(text('{"seen":"here"}')).body
    assert bound.get() == "here"


def test_a_call_that_is_given_up_before_it_begins_does_not(tool, gate):
    ended = []
    server = get_server()
    message = jsonrpc.classify(call("wait"))
    versions.choose_era(message, MODERN, server.settings)
    given_up = Call(server, message, testing.build_context(), ended.append)
    given_up.cancel()
    given_up.start()
    until(lambda: ended == [None])
    assert not Project.objects.exists()


def test_a_handler_that_cancels_itself_ends_the_stream_without_an_answer(talk):
    class Odd(Tool):
        name = "work"
        description = "Works."

        @action(description="Cancel itself", properties={})
        async def wait(self, data, ctx):
            ctx.report_progress(1)
            raise asyncio.CancelledError

    with testing.served(Odd):
        _, _, body = talk(call("wait"))
    assert events(body) == [progress(1)]


def test_a_slow_reader_gets_the_newest_progress_and_the_answer():
    channel = Channel()
    for number in range(1000):
        channel.notify(b"%d" % number)
    assert channel.taken() == [b"%d" % number for number in range(936, 1000)]
    channel.end(None)
    channel.notify(b"late")
    assert (channel.taken(), channel.ended) == ([], True)


async def test_what_came_before_it_is_waited_for_is_there_at_once():
    told, ended = Channel(), Channel()
    told.notify(b"1")
    ended.end(None)
    await told.await_()
    await ended.await_()
    assert (told.taken(), ended.taken(), ended.ended) == ([b"1"], [], True)


def test_calls_leave_no_thread_and_no_connection_behind(tool, talk):
    before = {thread.ident for thread in threading.enumerate() if thread.name == "django_mcp call"}
    for _ in range(5):
        talk(call("report"))
    until(
        lambda: (
            {thread.ident for thread in threading.enumerate() if thread.name == "django_mcp call"} <= before
        )
    )


def until(holds):
    """Wait for what another thread is about to do."""
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


class TestTimeLimit:
    class Slow(Tool):
        """Slow."""

        @action(description="Wait", properties={}, timeout=0.01)
        async def wait(self, data, ctx):
            await asyncio.Event().wait()

        @action(description="Wait", properties={})
        async def unlimited(self, data, ctx):
            await asyncio.Event().wait()

        @action(description="Raise", properties={}, timeout=60)
        async def own(self, data, ctx):
            raise TimeoutError("mine")

        @action(description="Be quick", properties={}, timeout=60)
        async def quick(self, data, ctx):
            return {"done": True}

    OVER = text(
        "The call took longer than 0.01 seconds.\nIt took too long; calling again may work.",
        is_error=True,
        meta={"django_mcp.error": "timeout", "django_mcp.retryable": True},
    )

    @pytest.fixture(params=["sync", "async"])
    def run(self, request):
        way = testing.run_tool if request.param == "sync" else async_to_sync(testing.arun_tool)

        def call(name):
            with testing.served(self.Slow):
                return way("slow", {"action": name})

        return call

    def test_an_action_may_have_one(self, run):
        answer = run("wait")
        assert {key: answer[key] for key in ("content", "isError")} == {
            key: self.OVER[key] for key in ("content", "isError")
        }
        assert answer["_meta"].items() >= self.OVER["_meta"].items()

    def test_a_server_may_have_one(self, run, settings):
        settings.DJANGO_MCP = {"CALL_TIMEOUT": 0.01}
        assert testing.error_text(run("unlimited")) == self.OVER["content"][0]["text"]

    @pytest.mark.parametrize("limit", [{"timeout": 0.01}, {}], ids=["action", "server"])
    def test_after_progress_it_ends_the_stream(self, talk, settings, cancelled, limit):
        settings.DJANGO_MCP = {"CALL_TIMEOUT": 60 if limit else 0.01}

        class Slow(Tool):
            name = "work"
            description = "Works."

            # Without a transaction nothing is awaited before the report: it is made, however late it is.
            @action(description="Report, then wait", properties={}, read_only=True, **limit)
            async def wait(self, data, ctx):
                ctx.report_progress(1, 3, "one")
                try:
                    await asyncio.Event().wait()
                finally:
                    ctx.report_progress(2, 3, "two")

        with testing.served(Slow):
            _, response, body = talk(call("wait"))

        assert {name: response.headers[name] for name in HEADERS} == HEADERS
        assert events(body) == [progress(1, 3, "one"), progress(2, 3, "two"), result(self.OVER).body]
        assert cancelled == []

    @pytest.mark.parametrize("is_async", [False, True])
    def test_so_does_that_of_an_attempt(self, talk, gate, cancelled, is_async):
        policy = Policy(timeout=Timeout(60))

        class Slow(Tool):
            name = "work"
            description = "Works."

            @action(description="Report, then wait", properties={}, policy=policy, read_only=True)
            def wait(self, data, ctx):
                ctx.report_progress(1)
                clock.advance(60)
                try:
                    until(lambda: ctx.cancelled)
                    ctx.report_progress(2)
                finally:
                    gate.ended.set()

            @action(description="Report, then wait", properties={}, policy=policy, read_only=True)
            async def await_(self, data, ctx):
                ctx.report_progress(1)
                clock.advance(60)
                try:
                    await asyncio.Event().wait()
                finally:
                    gate.ended.set()

        name = "await_" if is_async else "wait"
        with testing.fake_clock() as clock, testing.served(Slow):
            _, _, body = talk(call(name))
            gate.wait("ended")

        over = text(
            f"work {name} took longer than 60 seconds.\nIt took too long; calling again may work.",
            is_error=True,
            meta={"django_mcp.error": "timeout", "django_mcp.retryable": True},
        )
        assert events(body) == [progress(1), result(over).body]
        assert cancelled == []

    def test_a_timeout_of_the_handlers_own_is_its_own(self, run):
        assert (
            run("own")["_meta"].items()
            >= {"django_mcp.error": "error", "django_mcp.retryable": False}.items()
        )

    def test_what_is_quick_enough_is_answered(self, run):
        assert testing.json(run("quick")) == {"done": True}
