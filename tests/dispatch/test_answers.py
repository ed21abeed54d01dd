"""What a handler returns or raises, and what the caller gets."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from django.db import OperationalError, connection, transaction
from django.http import Http404

from django_mcp import BaseTool, Hint, Reply, Tool, ToolError, action, signals, testing
from example_project.tracker.models import Project
from tests.wire import META, members

SCHEMA = {"description": "Do it", "properties": {"mode": {"type": "string"}}}


class Both(Tool):
    """A tool with one action `do`; subclasses say what it does. Each exists with a sync and an async handler."""

    actions = {"do": SCHEMA}

    def answer(self, data, ctx):
        raise NotImplementedError

    def run_action(self, action, data, ctx):
        return self.answer(data, ctx)


@pytest.fixture(params=["def", "async def"])
def declare(request):
    """Serve a tool whose only action does what a function says, as a def or an async def."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def serve(answer, **members):
            async def arun_action(self, action, data, ctx):
                return answer(data, ctx)

            members["answer"] = staticmethod(answer)
            if request.param == "async def":
                members["run_action"] = arun_action
            name = members.pop("name", "tool")
            stack.enter_context(
                testing.served(type("T", (Both,), {"name": name, "description": "t", **members}))
            )

        yield serve


def call(run, **options):
    return run("tool", {"action": "do"}, **options)


def success(value):
    return {"content": [{"type": "text", "text": value}], "isError": False, "_meta": {}}


def failure(text, code="error", retryable=False):
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {"django_mcp.error": code, "django_mcp.retryable": retryable},
    }


def raising(exception):
    def answer(data, ctx):
        raise exception

    return answer


ONE_HINT = [Hint(tool="tool", action="do", description="Again")]


def test_a_mapping_is_one_json_text_block(run, declare):
    declare(lambda data, ctx: {"message": "Grüezi", "n": 1})
    assert call(run) == success('{"message":"Grüezi","n":1}')


@pytest.mark.parametrize(
    ("value", "text"), [("plain", '"plain"'), (None, "null"), ([1, 2], "[1,2]"), (2**70, str(2**70))]
)
def test_other_values_are_their_json_text(run, declare, value, text):
    declare(lambda data, ctx: value)
    assert call(run) == success(text)


def test_a_reply_with_a_hint_context_carries_the_hints(run, declare):
    asked = []

    def hints(self, action, hint_context):
        asked.append((action, hint_context))
        return [
            Hint(tool="tool", action="do", description="Again", example={"data": {"mode": "x"}}),
            *ONE_HINT,
        ]

    declare(lambda data, ctx: Reply({"id": 1}, hint_context={"id": 1}), hints=hints)
    assert json.loads(call(run)["content"][0]["text"]) == {
        "id": 1,
        "hints": [
            {"tool": "tool", "action": "do", "description": "Again", "example": {"data": {"mode": "x"}}},
            {"tool": "tool", "action": "do", "description": "Again"},
        ],
    }
    assert asked == [("do", {"id": 1})]


def test_no_hints_add_nothing(run, declare):
    declare(lambda data, ctx: Reply({"id": 1}, hint_context={}))
    assert call(run) == success('{"id":1}')


def test_an_answer_without_hint_context_asks_for_no_hints(run, declare):
    def hints(self, action, hint_context):
        raise AssertionError("not asked")

    declare(lambda data, ctx: Reply({"id": 1}), hints=hints)
    assert call(run) == success('{"id":1}')


def test_hints_at_what_does_not_exist_are_left_out(run, declare):
    gone = [
        Hint(tool="gone", action="do", description="x"),
        Hint(tool="tool", action="gone", description="x"),
    ]
    declare(lambda data, ctx: Reply({"id": 1}, hint_context={}), hints=lambda self, action, context: gone)
    assert call(run) == success('{"id":1}')


def test_a_hint_at_a_tool_without_actions_is_kept(run, declare):
    hint = Hint(tool="help", action="index", description="Look around")
    declare(lambda data, ctx: Reply({}, hint_context={}), hints=lambda self, action, context: [hint])
    assert call(run) == success('{"hints":[{"tool":"help","action":"index","description":"Look around"}]}')


def test_an_error_is_the_text_of_handle_error(run, declare):
    declare(raising(ToolError("no such task")))
    assert call(run) == failure("Operation failed: no such task")


def test_a_tool_words_its_own_errors(run, declare):
    declare(raising(ToolError({"code": 7})), handle_error=lambda self, reason: f"Fehler {reason['code']}")
    assert call(run) == failure("Fehler 7")


def test_an_error_with_a_hint_context_is_json_with_hints_and_context(run, declare):
    declare(
        raising(ToolError("gone", hint_context={})),
        hints=lambda self, action, context: ONE_HINT,
        action_context=lambda self, action, ctx: {"open": 3},
    )
    assert call(run) == failure(
        '{"error":"Operation failed: gone","hints":[{"tool":"tool","action":"do","description":"Again"}],'
        '"context":{"open":3}}'
    )


def test_an_error_with_a_hint_context_but_no_hints_is_json_all_the_same(run, declare):
    declare(raising(ToolError("gone", hint_context={})))
    assert call(run) == failure('{"error":"Operation failed: gone"}')


def test_an_error_without_hint_context_carries_no_context(run, declare):
    declare(raising(ToolError("gone")), action_context=lambda self, action, ctx: {"open": 3})
    assert call(run) == failure("Operation failed: gone")


def test_the_context_of_the_moment_goes_out_with_every_success(run, declare):
    declare(
        lambda data, ctx: {"id": 1}, action_context=lambda self, action, ctx: {"action": action, "open": 3}
    )
    assert call(run) == success('{"id":1,"context":{"action":"do","open":3}}')


def test_action_context_gets_the_handlers_context(run, declare):
    seen = []

    def answer(data, ctx):
        seen.append(ctx)
        return {}

    declare(answer, action_context=lambda self, action, ctx: seen.append(ctx))
    assert call(run) == success("{}")
    assert seen[0] is seen[1]


def test_the_handler_gets_the_callers_context(run, declare):
    declare(lambda data, ctx: [ctx.tool, ctx.action, ctx.request_id, ctx.assigns, ctx.server, ctx.meta])
    ctx = testing.build_context(request_id="r1", meta={"k": 1}, assigns={"a": 2})
    [block] = call(run, ctx=ctx)["content"]
    assert json.loads(block["text"]) == ["tool", "do", "r1", {"a": 2}, "default", {**META, "k": 1}]


def test_content_blocks_go_out_as_they_are(run, declare):
    def answer(data, ctx):
        return (
            ctx.text("a")
            + ctx.json({"b": 1})
            + ctx.image("aW1n", "image/png")
            + ctx.audio("YXU=", "audio/wav")
            + ctx.resource_link("x://1", "one", title="One", mime_type="text/plain", size=3)
            + ctx.embedded_resource("x://2", text="two", mime_type="text/plain")
            + ctx.embedded_resource("x://3", blob="Mw==")
        )

    declare(answer)
    assert call(run) == {
        "content": [
            {"type": "text", "text": "a"},
            {"type": "text", "text": '{"b":1}'},
            {"type": "image", "data": "aW1n", "mimeType": "image/png"},
            {"type": "audio", "data": "YXU=", "mimeType": "audio/wav"},
            {
                "type": "resource_link",
                "uri": "x://1",
                "name": "one",
                "title": "One",
                "mimeType": "text/plain",
                "size": 3,
            },
            {"type": "resource", "resource": {"uri": "x://2", "mimeType": "text/plain", "text": "two"}},
            {"type": "resource", "resource": {"uri": "x://3", "blob": "Mw=="}},
        ],
        "isError": False,
        "_meta": {},
    }


OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_with_an_output_schema_the_value_is_structured_content_too(run, declare):
    declare(lambda data, ctx: {"n": 1}, output_schema=OUTPUT)
    assert call(run) == {**success('{"n":1}'), "structuredContent": {"n": 1}}


def test_structured_content_holds_hints_and_context(run, declare):
    declare(
        lambda data, ctx: Reply({"n": 1}, hint_context={}),
        output_schema=OUTPUT,
        hints=lambda self, action, context: ONE_HINT,
        action_context=lambda self, action, ctx: {"open": 3},
    )
    result = call(run)
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    assert result["structuredContent"].keys() == {"n", "hints", "context"}


@pytest.mark.parametrize(("text", "structured"), [('{"n":4}', {"n": 4}), ("[1]", {}), ("{", {})])
def test_structured_content_of_a_text_block_is_its_object(run, declare, text, structured):
    declare(lambda data, ctx: ctx.text(text), output_schema={"type": "object"})
    assert call(run) == {**success(text), "structuredContent": structured}


def test_structured_content_of_other_blocks_is_empty(run, declare):
    declare(lambda data, ctx: ctx.text("{}") + ctx.text("{}"), output_schema={"type": "object"})
    assert call(run)["structuredContent"] == {}


def test_an_error_has_no_structured_content(run, declare):
    declare(raising(ToolError("no")), output_schema=OUTPUT)
    assert call(run) == failure("Operation failed: no")


def fault(exception, message, kind="tool_fault"):
    body = {"errorType": kind, "tool": "tool", "exception": exception, "message": message}
    return failure(json.dumps(body, separators=(",", ":"), ensure_ascii=False))


@pytest.fixture
def exposed(settings):
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}


@pytest.mark.parametrize(
    ("raised", "exception", "message"),
    [
        (RuntimeError("boom"), "RuntimeError", "boom"),
        (SystemExit(3), "exit", "3"),
        (ValueError("x" * 500), "ValueError", f"{'x' * 200}… (500 characters)"),
        (OSError("bad \udcff name"), "OSError", "bad ? name"),
        (StopIteration("s"), None, None),
    ],
)
def test_what_a_handler_raises_is_contained(run, declare, exposed, raised, exception, message):
    declare(raising(raised))
    result = call(run)
    if exception is None:  # Python itself turns it into a RuntimeError in a coroutine
        assert json.loads(result["content"][0]["text"])["errorType"] == "tool_fault"
    else:
        assert result == fault(exception, message)


@pytest.mark.parametrize(
    ("raised", "then", "marks"),
    [
        (RuntimeError, "Do not repeat the call with the same arguments; tell the user.", ("error", False)),
        (Http404, "Do not repeat the call with the same arguments; tell the user.", ("permanent", False)),
        (OperationalError, "Call again later.", ("transient", True)),
    ],
)
def test_in_production_a_fault_says_where_the_log_has_it_and_what_to_do(
    run, declare, caplog, raised, then, marks
):
    declare(raising(raised("secret")))
    failed = []
    signals.tool_failed.connect(receiver := lambda **fields: failed.append(fields))
    result = call(run)
    signals.tool_failed.disconnect(receiver)
    [event] = failed
    message = f"Internal error; the site's log has it as {event['reference']}. {then}"
    code, retryable = marks
    assert result == {
        **fault(raised.__name__, message),
        "_meta": {"django_mcp.error": code, "django_mcp.retryable": retryable},
    }
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert event["reference"] in record.getMessage()
    assert isinstance(record.exc_info[1], raised)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
def test_what_ends_the_process_or_the_request_is_not_contained(declare, raised):
    declare(raising(raised()))
    with pytest.raises(raised):
        testing.run_tool("tool", {"action": "do"})


async def _late():
    return {}


@pytest.mark.parametrize(
    ("answer", "members", "exception", "message"),
    [
        (
            lambda data, ctx: 1,
            {"action_context": lambda self, action, ctx: {"a": 1}},
            "OffContract",
            "Only a mapping can carry hints or context.",
        ),
        (
            lambda data, ctx: ctx.text("x"),
            {"action_context": lambda self, action, ctx: {"a": 1}},
            "OffContract",
            "Content blocks cannot carry hints or context; return a mapping.",
        ),
        (
            lambda data, ctx: {},
            {"action_context": lambda self, action, ctx: [1]},
            "OffContract",
            "action_context must return a mapping or None, not list.",
        ),
        (
            lambda data, ctx: Reply({}, hint_context={}),
            {"hints": lambda self, action, context: [{"tool": "tool"}]},
            "OffContract",
            "hints must yield Hint objects, not dict.",
        ),
        (
            raising(ToolError("x")),
            {"handle_error": lambda self, reason: None},
            "OffContract",
            "handle_error must return a string, not NoneType.",
        ),
        (
            lambda data, ctx: _late(),
            {},
            "OffContract",
            "The handler returned an awaitable; write it as async def.",
        ),
        (
            lambda data, ctx: {"a": [object]},
            {},
            "EncodingError",
            "a[0] is an object of the type builtins.type. Convert it to a mapping, a list, a string or a number.",
        ),
    ],
)
def test_what_breaks_a_contract_is_a_fault(run, declare, exposed, answer, members, exception, message):
    declare(answer, **members)
    assert call(run) == fault(exception, message)


def test_a_future_that_is_returned_is_a_fault_too(run, declare, exposed):
    class Awaitable:
        def __await__(self):
            yield

    declare(lambda data, ctx: Awaitable())
    assert call(run) == fault("OffContract", "The handler returned an awaitable; write it as async def.")


def test_an_answer_that_breaks_the_output_schema_is_a_fault_of_its_own(run, declare, exposed):
    declare(lambda data, ctx: {"n": "x", "m": 1}, output_schema=OUTPUT)
    body = {
        "errorType": "output_mismatch",
        "tool": "tool",
        "message": "The answer breaks the tool's output schema at 1 path. n: must be of type integer",
    }
    assert call(run) == failure(json.dumps(body, separators=(",", ":")))


@pytest.fixture
def heard():
    """Every tool event, in order, as its name and fields."""
    events = []
    receivers = {}
    for name in ("tool_started", "tool_stopped", "tool_failed", "help_called"):

        def receive(sender, signal, _name=name, **fields):
            events.append((_name, fields))

        receivers[name] = receive
        getattr(signals, name).connect(receive)
    yield events
    for name, receive in receivers.items():
        getattr(signals, name).disconnect(receive)


def test_a_fault_is_announced_and_no_stop_follows(run, declare, heard):
    error = RuntimeError("boom")
    declare(raising(error))
    call(run)
    [(first, _), (second, fields)] = heard
    assert (first, second) == ("tool_started", "tool_failed")
    assert fields.pop("duration") >= 0
    assert len(fields.pop("reference")) == 8
    assert fields == {
        "server": "default",
        "tool": "tool",
        "action": "do",
        "request_id": 1,
        "exception": "RuntimeError",
        "error": "boom",
        "crash_reason": error,
    }


@pytest.mark.parametrize(
    ("answer", "arguments", "is_error", "kind", "attempts"),
    [
        (lambda data, ctx: {}, {"action": "do"}, False, None, 1),
        (raising(ToolError("x")), {"action": "do"}, True, "tool", 1),
        (lambda data, ctx: {}, {"action": "zzz"}, True, "dispatch", 0),
    ],
)
def test_a_call_is_announced_at_its_start_and_its_end(
    run, declare, heard, answer, arguments, is_error, kind, attempts
):
    declare(answer)
    run("tool", arguments)
    called = {"server": "default", "tool": "tool", "action": arguments["action"], "request_id": 1}
    assert heard[0] == ("tool_started", {**called, "trace": {}})
    assert heard[1][1].pop("duration") >= 0
    assert heard[1:] == [
        (
            "tool_stopped",
            {
                **called,
                "is_error": is_error,
                "error_kind": kind,
                "source": "live",
                "degraded": False,
                "attempts": attempts,
            },
        )
    ]


def test_a_hand_written_tool_classifies_its_own_refusal(run):
    class Hand(BaseTool):
        """Written by hand."""

        name = "tool"
        input_schema = {"type": "object"}

        def run(self, arguments, ctx):
            raise ToolError("no", kind=arguments["kind"])

    with testing.served(Hand):
        assert run("tool", {"kind": "dispatch"}) == failure("Operation failed: no", "invalid_arguments", True)
        assert run("tool", {"kind": "tool"}) == failure("Operation failed: no")


def test_a_hand_written_tool_may_be_async(run):
    class Hand(BaseTool):
        """Written by hand."""

        name = "tool"
        input_schema = {"type": "object"}

        async def run(self, arguments, ctx):
            return {"got": arguments, "action": ctx.action}

    with testing.served(Hand):
        assert run("tool", {"x": 1}) == success('{"got":{"x":1},"action":null}')


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
class TestTransactions:
    @pytest.fixture(autouse=True)
    def atomic_requests(self, monkeypatch):
        from django.db import connections

        for alias in connections:
            monkeypatch.setitem(connections.settings[alias], "ATOMIC_REQUESTS", True)

    @staticmethod
    def written():
        return [Project.objects.using(alias).count() for alias in ("default", "other")]

    @staticmethod
    def write():
        for alias in ("default", "other"):
            Project.objects.using(alias).create(name="p")

    def test_what_a_successful_call_writes_stays(self, declare_sync):
        declare_sync(lambda data, ctx: self.write() or {"in": connection.in_atomic_block})
        assert members(testing.run_tool("tool", {"action": "do"})) == success('{"in":true}')
        assert self.written() == [1, 1]

    @pytest.mark.parametrize(
        ("answer", "members"),
        [
            (raising(ToolError("no")), {}),
            (raising(RuntimeError("no")), {}),
            (raising(SystemExit()), {}),
            (lambda data, ctx: object(), {}),
            (lambda data, ctx: {"n": "x"}, {"output_schema": OUTPUT}),
            (lambda data, ctx: {}, {"action_context": lambda self, action, ctx: 1}),
            (lambda data, ctx: Reply({}, hint_context={}), {"hints": lambda self, action, context: 1}),
        ],
    )
    def test_a_failed_answer_leaves_no_write_behind(self, declare_sync, answer, members):
        declare_sync(lambda data, ctx: self.write() or answer(data, ctx), **members)
        assert testing.run_tool("tool", {"action": "do"})["isError"] is True
        assert self.written() == [0, 0]

    def test_a_commit_that_fails_is_a_fault(self, declare_sync, exposed):
        def answer(data, ctx):
            transaction.on_commit(raising_hook)
            return {}

        def raising_hook():
            raise RuntimeError("at commit")

        declare_sync(answer)
        assert members(testing.run_tool("tool", {"action": "do"})) == fault("RuntimeError", "at commit")

    def test_a_read_only_action_runs_without_a_transaction(self, declare_sync):
        declare_sync(
            lambda data, ctx: {"in": connection.in_atomic_block},
            actions={"do": {**SCHEMA, "options": {"read_only": True}}},
        )
        assert members(testing.run_tool("tool", {"action": "do"})) == success('{"in":false}')

    async def test_an_async_handler_runs_in_the_transaction_of_its_thread(self):
        class Async(Tool):
            """Async."""

            name = "tool"

            @action(description="Write", properties={"fail": {"type": "boolean"}})
            async def do(self, data, ctx):
                await Project.objects.acreate(name="p")
                if data["fail"]:
                    raise ToolError("no")
                return {"n": await Project.objects.acount()}

        with testing.served(Async):
            failed = await testing.arun_tool("tool", {"action": "do", "data": {"fail": True}})
            kept = await testing.arun_tool("tool", {"action": "do", "data": {"fail": False}})
        assert members(failed) == failure("Operation failed: no")
        assert members(kept) == success('{"n":1}')


@pytest.fixture
def declare_sync():
    from contextlib import ExitStack

    with ExitStack() as stack:

        def serve(answer, **members):
            members["answer"] = staticmethod(answer)
            stack.enter_context(
                testing.served(type("T", (Both,), {"name": "tool", "description": "t", **members}))
            )

        yield serve


@pytest.mark.parametrize(
    "text", ["tabs\tand  trailing spaces  ", "e\u0301 \u200b zero width", "line\nline\n", "\u2028 🐍 \x00"]
)
def test_text_written_by_the_author_reaches_the_wire_untouched(run, text):
    one_line = text.replace("\n", " ")

    class T(Tool):
        name = "tool"
        description = text
        actions = {
            "do": {
                "description": one_line,
                "properties": {"p": {"type": "string", "description": text}},
                "notes": text,
                "examples": [{"p": text}],
            }
        }

        def run_action(self, action, data, ctx):
            return Reply({"said": text}, hint_context={})

        def hints(self, action, hint_context):
            return [Hint(tool="tool", action="do", description=text)]

    with testing.served(T):
        shown = json.loads(run("help", {"tool": "tool"})["content"][0]["text"])
        index = json.loads(run("help", {})["content"][0]["text"])
        answer = json.loads(run("tool", {"action": "do"})["content"][0]["text"])
    assert shown == {
        "tool": "tool",
        "description": text,
        "actions": {
            "do": {
                "description": one_line,
                "properties": {"p": {"type": "string", "description": text}},
                "required": [],
                "notes": text,
                "examples": [{"p": text}],
            }
        },
    }
    assert index["tools"][0] == {"tool": "tool", "description": text, "actions": [f"do: {one_line}"]}
    assert answer == {"said": text, "hints": [{"tool": "tool", "action": "do", "description": text}]}
