"""Asking the user: the call ends with a question and is repeated with the answer."""

from __future__ import annotations

import asyncio
import json

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.utils.translation import gettext_lazy

from django_mcp import Answer, BaseTool, Context, Tool, ToolError, action, signals, testing
from django_mcp.authoring.elicitation import InputRequired, MissingCapability
from example_project.tracker.models import Project
from tests.asking import AGE, FORMS, NAME, AsyncInterview, Interview, accepted, asked, form
from tests.wire import META, P, refused, result, text

ERROR = {"django_mcp.error": "error", "django_mcp.retryable": False}


def capable(**capabilities):
    return {**META, f"{P}clientCapabilities": capabilities}


def failed(reason):
    return result(text(f"Operation failed: {reason}", is_error=True, meta=ERROR))


def unsupported(capability):
    return failed(
        f"the client cannot be asked for this: its request declares no capability {capability}. "
        "Do not call again; tell the user that it takes another client."
    )


def fault(tool, exception, message):
    body = f'{{"errorType":"tool_fault","tool":"{tool}","exception":"{exception}","message":"{message}"}}'
    return result(text(body, is_error=True, meta=ERROR))


@pytest.fixture(params=[Interview, AsyncInterview], ids=["def", "async def"])
def interview(wire, request):
    """Call the tool that asks two questions."""

    def call(*, meta=FORMS, arguments=None, headers=None, **params):
        params = {"name": "interview", "arguments": arguments or {}, **params}
        return wire.modern("tools/call", params, meta=meta, headers=headers)

    with testing.served(request.param):
        yield call


@pytest.fixture(params=["def", "async def"])
def call(wire, request):
    """Call a tool that does what a function of its context says, as a def and as an async def."""

    def call(handler, *, meta=FORMS, **params):
        def run(self, arguments, ctx):
            return handler(ctx)

        async def arun(self, arguments, ctx):
            return handler(ctx)

        members = {
            "__doc__": "Asks.",
            "name": "asks",
            "input_schema": {"type": "object"},
            "run": run if request.param == "def" else arun,
        }
        with testing.served(type("Asks", (BaseTool,), members)):
            return wire.modern("tools/call", {"name": "asks", **params}, meta=meta)

    return call


class TestAQuestion:
    def test_ends_the_call_and_says_what_is_asked(self, interview):
        requests, _ = asked(interview())

        assert requests == {"who": form("Who are you?", NAME)}

    def test_is_answered_by_repeating_the_call(self, interview):
        _, first = asked(interview())
        requests, second = asked(interview(inputResponses={"who": accepted(name="Ada")}, requestState=first))
        assert requests == {"age": form("How old?", AGE)}
        assert first != second

        answer = interview(inputResponses={"age": accepted(age=36)}, requestState=second)

        assert answer == result(text('{"name":"Ada","age":36}'))

    def test_may_be_answered_before_it_is_asked(self, interview):
        responses = {"who": accepted(name="Ada"), "age": accepted(age=36)}

        assert interview(inputResponses=responses) == result(text('{"name":"Ada","age":36}'))

    def test_once_answered_stays_answered(self, interview):
        _, first = asked(interview())
        _, second = asked(interview(inputResponses={"who": accepted(name="Ada")}, requestState=first))
        responses = {"who": accepted(name="Eve"), "age": accepted(age=36)}

        answer = interview(inputResponses=responses, requestState=second)

        assert answer == result(text('{"name":"Ada","age":36}'))

    @pytest.mark.parametrize("action", ["decline", "cancel"])
    def test_may_be_refused_by_the_user(self, interview, action):
        answer = interview(inputResponses={"who": {"action": action, "content": {"name": "Ada"}}})

        assert answer == result(text(f'{{"name":"{action}","content":{{}}}}'))

    @pytest.mark.parametrize("responses", [{}, {"whom": accepted(name="Ada")}])
    def test_without_its_answer_is_asked_again(self, interview, responses):
        _, state = asked(interview())
        requests, _ = asked(interview(inputResponses=responses, requestState=state))

        assert requests == {"who": form("Who are you?", NAME)}

    def test_takes_no_answers_that_nobody_asked_for(self, interview):
        _, state = asked(interview())
        responses = {"who": {"action": "decline"}, "other": accepted(a=1)}

        answer = interview(inputResponses=responses, requestState=state)

        assert answer == result(text('{"name":"decline","content":{}}'))

    @pytest.mark.parametrize(
        "response",
        [
            {},
            {"action": "shrug"},
            {"action": ["accept"]},
            {"action": "accept"},
            {"action": "accept", "content": None},
            {"action": "accept", "content": "Ada"},
            accepted(),
            accepted(name=12345),
        ],
    )
    def test_is_asked_again_for_an_answer_that_does_not_fit(self, interview, response):
        _, state = asked(interview())
        requests, _ = asked(interview(inputResponses={"who": response}, requestState=state))

        assert requests == {"who": form("Who are you?", NAME)}

    @pytest.mark.parametrize("responses", [None, [], "who", {"who": "Ada"}, {"who": None}])
    def test_takes_an_object_of_result_objects(self, interview, responses):
        message = "params.inputResponses must be an object of result objects."

        answer = interview(inputResponses=responses)

        assert answer == refused("validate", "invalid_params", 400, -32602, message)

    def test_may_be_written_in_the_language_of_the_caller(self, call):
        requests, _ = asked(call(lambda ctx: ctx.elicit(gettext_lazy("Hello"), NAME)))

        assert requests == {"question_1": form("Hello", NAME)}

    def test_asked_in_a_loop_is_asked_until_the_handler_has_enough(self, call):
        def handler(ctx):
            for left in (2, 1):
                answer = ctx.elicit(f"{left} guesses left", AGE)
                if answer.content["age"] == 7:
                    return {"guessed": 7}
            return {"guessed": None}

        _, state = asked(call(handler))
        requests, state = asked(
            call(handler, inputResponses={"question_1": accepted(age=5)}, requestState=state)
        )
        answer = call(handler, inputResponses={"question_2": accepted(age=7)}, requestState=state)

        assert requests == {"question_2": form("1 guesses left", AGE)}
        assert answer == result(text('{"guessed":7}'))

    def test_has_a_key_of_its_own(self, call, settings):
        settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}

        def handler(ctx):
            return [ctx.elicit("Who?", NAME, key="who").action for _ in range(2)]

        answer = call(handler, inputResponses={"who": accepted(name="Ada")})

        assert answer == fault("asks", "ValueError", "The question 'who' is asked twice in one call.")


class TestAHandler:
    def test_that_swallows_the_interruption_fails(self, call, settings):
        settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}

        def handler(ctx):
            try:
                ctx.elicit("Who?", NAME)
            except BaseException:
                return {}

        message = "The handler caught what ends its call (raised by ctx.elicit or the like) and went on."
        assert call(handler) == fault("asks", "OffContract", message)

    def test_does_not_swallow_it_by_accident(self, call):
        def handler(ctx):
            try:
                ctx.elicit("Who?", NAME)
            except Exception:
                return {}

        asked(call(handler))

    @pytest.mark.django_db(transaction=True, databases=["default", "other"])
    @pytest.mark.parametrize("is_async", [False, True])
    def test_has_written_nothing_when_it_asks(self, wire, monkeypatch, is_async):
        for alias in connections:
            monkeypatch.setitem(connections.settings[alias], "ATOMIC_REQUESTS", True)

        def write():
            for alias in ("default", "other"):
                Project.objects.using(alias).create(name="p")

        class Writes(Tool):
            """Writes, then asks."""

            @action(description="Write", properties={})
            def sync(self, data, ctx):
                write()
                return {"said": ctx.elicit("Keep it?", NAME).action}

            @action(description="Write", properties={})
            async def concurrent(self, data, ctx):
                await sync_to_async(write)()
                return {"said": ctx.elicit("Keep it?", NAME).action}

        def written():
            return [Project.objects.using(alias).count() for alias in ("default", "other")]

        params = {"name": "writes", "arguments": {"action": "concurrent" if is_async else "sync"}}
        with testing.served(Writes):
            _, state = asked(wire.modern("tools/call", params, meta=FORMS))
            assert written() == [0, 0]
            responses = {"question_1": {"action": "decline"}}
            params = {**params, "inputResponses": responses, "requestState": state}
            answer = wire.modern("tools/call", params, meta=FORMS)

        assert answer == result(text('{"said":"decline"}'))
        assert written() == [1, 1]

    def test_may_ask_from_a_thread(self, wire):
        class Threaded(BaseTool):
            """Asks from a thread."""

            name = "threaded"
            input_schema = {"type": "object"}

            async def run(self, arguments, ctx):
                return (await sync_to_async(ctx.elicit)("Who?", NAME)).content

        with testing.served(Threaded):
            requests, _ = asked(wire.modern("tools/call", {"name": "threaded"}, meta=FORMS))
            params = {"name": "threaded", "inputResponses": {"question_1": accepted(name="Ada")}}
            answer = wire.modern("tools/call", params, meta=FORMS)

        assert requests == {"question_1": form("Who?", NAME)}
        assert answer == result(text('{"name":"Ada"}'))

    def test_whose_permission_asks_is_not_seen(self, wire):
        class Guarded(BaseTool):
            """Guarded."""

            name = "guarded"
            input_schema = {"type": "object"}

            def permission(self, ctx):
                return ctx.elicit("May you?", NAME).accepted

            def run(self, arguments, ctx):
                return {}

        with testing.served(Guarded):
            guarded, missing = (
                wire.modern("tools/call", {"name": name}, meta=FORMS) for name in ("guarded", "missing")
            )

        assert guarded.body["error"]["message"] == missing.body["error"]["message"].replace(
            "missing", "guarded"
        )


class TestATaskGroup:
    """A handler may ask from one of several tasks; the group then cancels the others."""

    @pytest.fixture
    def group(self, wire):
        def call(*tasks, **params):
            class Grouped(BaseTool):
                """Does several things at once."""

                name = "grouped"
                input_schema = {"type": "object"}

                async def run(self, arguments, ctx):
                    async with asyncio.TaskGroup() as outer, asyncio.TaskGroup() as inner:
                        for task in tasks:
                            inner.create_task(task(ctx))
                        outer.create_task(asyncio.sleep(0))
                    return {}

            with testing.served(Grouped):
                return wire.modern("tools/call", {"name": "grouped", **params}, meta=FORMS)

        return call

    @staticmethod
    async def ask(ctx):
        ctx.elicit("Who?", NAME, key="who")

    @staticmethod
    async def wait(ctx):
        await asyncio.Event().wait()

    @staticmethod
    async def fail(ctx):
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("cleaning up")

    def test_that_asks_ends_the_call_with_the_question(self, group):
        requests, _ = asked(group(self.wait, self.ask))

        assert requests == {"who": form("Who?", NAME)}

    def test_goes_on_with_the_answer(self, group):
        assert group(self.ask, inputResponses={"who": {"action": "cancel"}}) == result(text("{}"))

    def test_that_asks_and_fails_is_a_fault(self, group):
        answer = group(self.fail, self.ask)

        assert (answer.status, answer.body["result"]["isError"]) == (200, True)
        assert '"exception":"ExceptionGroup"' in answer.body["result"]["content"][0]["text"]

    async def test_that_is_only_cancelled_is_cancelled(self):
        class Cancelled(BaseTool):
            """Ends in a group of cancellations."""

            name = "cancelled"
            input_schema = {"type": "object"}

            async def run(self, arguments, ctx):
                raise BaseExceptionGroup("cancelled", [asyncio.CancelledError()])

        with testing.served(Cancelled), pytest.raises(asyncio.CancelledError):
            await testing.arun_tool("cancelled", {})


class TestAClientThatCannotAsk:
    @pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": None}])
    def test_gets_a_tool_error(self, interview, capabilities):
        assert interview(meta=capable(**capabilities)) == unsupported("elicitation.form")

    def test_is_every_client_of_an_earlier_revision(self, wire, interview):
        params = {"name": "interview", "_meta": FORMS}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = wire.post(request, {"MCP-Protocol-Version": "2025-11-25"})

        expected = unsupported("elicitation.form").body["result"]
        assert (answer.status, answer.body["result"]) == (
            200,
            {"content": expected["content"], "isError": True, "_meta": ERROR},
        )

    def test_can_be_done_without(self, call):
        def handler(ctx):
            try:
                return {"said": ctx.elicit("Who?", NAME).action}
            except ToolError:
                return {"said": "nothing"}

        assert call(handler, meta=META) == result(text('{"said":"nothing"}'))

    @pytest.mark.parametrize(
        ("needed", "declared"),
        [
            ({"sampling": {"tools": {}}}, {}),
            ({"sampling": {"tools": {}}}, {"sampling": {}}),
            ({"sampling": {}}, {"sampling": 5}),
            ({"elicitation": {"url": {}}}, {"elicitation": {}}),
            ({"elicitation": {"url": {}, "form": {}}}, {"elicitation": {"url": {}}}),
        ],
    )
    def test_is_told_what_the_call_cannot_do_without(self, call, needed, declared):
        answer = call(lambda ctx: ctx.require(needed), meta=capable(**declared))

        assert answer == lacks(needed)

    @pytest.mark.parametrize(
        ("needed", "declared"),
        [
            ({"sampling": {"tools": {}}}, {"sampling": {"tools": {}}}),
            ({"elicitation": {"form": {}}}, {"elicitation": {}}),
            ({"elicitation": {}}, {"elicitation": {"url": {}}}),
            ({}, {}),
        ],
    )
    def test_is_not_one_that_declares_it(self, call, needed, declared):
        answer = call(lambda ctx: ctx.require(needed) or {}, meta=capable(**declared))

        assert answer == result(text("{}"))

    @pytest.mark.parametrize(
        ("handler", "is_error", "kind"),
        [
            (lambda ctx: ctx.require({"sampling": {}}), True, "tool"),
            (lambda ctx: ctx.elicit("Who?", NAME), False, None),
        ],
    )
    def test_ends_the_call_as_every_other_does(self, call, handler, is_error, kind):
        heard = []

        def hear(signal, **fields):
            heard.append((fields["is_error"], fields["error_kind"]))

        signals.tool_stopped.connect(hear)
        try:
            call(handler)
        finally:
            signals.tool_stopped.disconnect(hear)

        assert heard == [(is_error, kind)]

    def test_of_an_earlier_revision_is_told_at_200(self, wire):
        class Needs(Interview):
            def run(self, arguments, ctx):
                ctx.require({"elicitation": {}})

        with testing.served(Needs):
            answer = wire.legacy("tools/call", {"name": "interview"})

        assert answer == lacks({"elicitation": {}}, status=200)


def lacks(needed, status=400):
    shown = json.dumps(needed, separators=(",", ":"))
    message = f"This call needs client capabilities that the request does not declare: {shown}"
    data = {"requiredCapabilities": needed}
    return refused("dispatch", "missing_capability", status, -32021, message, data=data)


class TestAPage:
    URL = "https://shop.example.com/connect"
    META = capable(elicitation={"url": {}})

    def open(self, ctx):
        answer = ctx.elicit_url("Connect.", self.URL)
        return {"action": answer.action, "content": answer.content}

    def test_is_opened_by_clients_that_declare_it(self, call):
        requests, state = asked(call(self.open, meta=self.META))
        responses = {"question_1": {"action": "accept", "content": {"token": "unasked"}}}
        answer = call(self.open, meta=self.META, inputResponses=responses, requestState=state)

        params = {"mode": "url", "message": "Connect.", "url": self.URL}
        assert requests == {"question_1": {"method": "elicitation/create", "params": params}}
        assert answer == result(text('{"action":"accept","content":{}}'))

    def test_is_opened_by_no_others(self, call):
        assert call(self.open, meta=FORMS) == unsupported("elicitation.url")

    @pytest.mark.parametrize("url", ["/connect", "shop.example.com", "javascript:alert(1)", "https://"])
    def test_has_an_absolute_url(self, url):
        with pytest.raises(ValueError, match="is no absolute URL of a web page"):
            Context().elicit_url("Connect.", url)


class TestRawRequests:
    SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}

    @pytest.mark.parametrize(
        ("request_", "capability"),
        [
            ({"method": "roots/list"}, "roots"),
            (SAMPLE, "sampling"),
            (
                {**SAMPLE, "params": {"includeContext": "allServers", "tools": []}},
                "sampling.tools, sampling.context",
            ),
            ({**SAMPLE, "params": {"toolChoice": {}}}, "sampling.tools"),
            (form("Who?", NAME), "elicitation.form"),
            ({"method": "elicitation/create", "params": {"mode": "url"}}, "elicitation.url"),
        ],
    )
    def test_go_only_to_clients_that_declare_their_kind(self, call, request_, capability):
        answer = call(lambda ctx: ctx.request_input({"a": request_}), meta=META)

        assert answer == unsupported(capability)

    def test_are_asked_together_and_answered_one_by_one(self, call):
        roots = {"method": "roots/list"}
        meta = capable(roots={}, sampling={})

        def handler(ctx):
            return ctx.request_input({"roots": roots, "sample": self.SAMPLE})

        both, first = asked(call(handler, meta=meta))
        rest, second = asked(
            call(handler, meta=meta, inputResponses={"roots": {"roots": []}}, requestState=first)
        )
        answer = call(handler, meta=meta, inputResponses={"sample": {"model": "m"}}, requestState=second)

        assert both == {"roots": roots, "sample": self.SAMPLE}
        assert rest == {"sample": self.SAMPLE}
        assert answer == result(text('{"roots":{"roots":[]},"sample":{"model":"m"}}'))

    @pytest.mark.parametrize("request_", [{"method": "tools/call"}, {}])
    def test_are_requests_that_mcp_sends(self, request_):
        with pytest.raises(ValueError, match="is no method of an input request"):
            Context().request_input({"a": request_})


def test_an_answer_says_whether_it_is_a_yes():
    assert Answer("accept", {}).accepted
    assert not Answer("decline", {}).accepted


def test_interruptions_say_what_they_are_about():
    assert str(InputRequired({"who": {}, "age": {}})) == "Input is required: who, age"
    assert str(MissingCapability({"sampling": {"tools": {}}})) == "The client lacks sampling.tools"
