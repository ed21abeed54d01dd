from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core import signing

from django_mcp import BaseTool, testing
from django_mcp.authoring.elicitation import ElicitationUnsupported
from tests.wire import ABSENT, META, SERVER_INFO, Answer, P, refused, result, text

UNKNOWN = "Unknown tool: {}. Call tools/list or the help tool for the tools there are."
FORMS = {**META, f"{P}clientCapabilities": {"elicitation": {}}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


class Typed(BaseTool):
    """Answers structured content of any kind."""

    name = "typed"
    input_schema = {"type": "object"}
    output_schema = {}

    def run(self, arguments, ctx):
        return arguments["value"]


class Blocks(BaseTool):
    """Answers a text and a link."""

    name = "blocks"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return ctx.text("see") + ctx.resource_link("orders://1", "Order 1")


class Faulty(BaseTool):
    """Crashes."""

    name = "faulty"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        raise RuntimeError("the secret is 42")


class Interview(BaseTool):
    """Asks for a name, then for an age."""

    name = "interview"
    input_schema = {"type": "object"}
    once = False

    def run(self, arguments, ctx):
        name = ctx.elicit("Who are you?", NAME, key="who", once=self.once)
        if not name.accepted:
            return {"name": name.action}
        age = ctx.elicit("How old?", AGE, key="age", once=self.once)
        return {"name": name.content["name"], "age": age.content["age"]}


class AsyncInterview(Interview):
    async def run(self, arguments, ctx):
        return super().run(arguments, ctx)


class OnceOnly(Interview):
    once = True


class Opens(BaseTool):
    """Sends the user to a page."""

    name = "opens"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return {"action": ctx.elicit_url("Connect.", "https://shop.example.com/connect").action}


class Needs(BaseTool):
    """Cannot do without sampling."""

    name = "needs"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        ctx.require({"sampling": {"tools": {}}})
        return {}


class AsyncNeeds(Needs):
    async def run(self, arguments, ctx):
        return super().run(arguments, ctx)


class Roots(BaseTool):
    """Asks for the roots, or does without."""

    name = "roots"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        try:
            return ctx.request_input({"roots": {"method": "roots/list"}})
        except ElicitationUnsupported:
            return {"roots": "unsupported"}


def who(request):
    name = request.META.get("HTTP_X_USER")
    return None if name is None else User(pk=len(name), username=name)


@pytest.fixture(params=[Interview, AsyncInterview], ids=["sync tool", "async tool"])
def interview(wire, request):
    """Call the tool that asks two questions."""

    def call(*, meta=FORMS, arguments=None, headers=None, **params):
        params = {"name": "interview", "arguments": arguments or {}, **params}
        return wire.modern("tools/call", params, meta=meta, headers=headers)

    with testing.served(request.param):
        yield call


def asked(answer):
    """The input requests of an answer, and its state."""
    found = answer.body["result"]
    state = found.pop("requestState")
    requests = found.pop("inputRequests")
    assert (answer.status, found) == (200, {"resultType": "input_required", "_meta": SERVER_INFO})
    return requests, state


def accepted(**content):
    return {"action": "accept", "content": content}


def form(message, schema):
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }


INVALID_STATE = refused(
    "dispatch",
    "invalid_request_state",
    400,
    -32602,
    "params.requestState is invalid or has expired; repeat the call without it.",
    data={"reason": "invalid_request_state"},
)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_an_unknown_tool_is_a_protocol_error_that_names_it(wire, era):
    answer = getattr(wire, era)("tools/call", {"name": "eccho"})

    assert answer == refused("dispatch", "unknown_tool", 200, -32602, UNKNOWN.format("eccho"))


def test_its_name_is_quoted_bounded(wire):
    answer = wire.modern("tools/call", {"name": "x" * 300})

    message = UNKNOWN.format("x" * 200 + "… (300 characters)")
    assert answer == refused("dispatch", "unknown_tool", 200, -32602, message)


@pytest.mark.parametrize("value", [{"n": 1}, [1, 2], "text", 5, False, None])
def test_structured_content_is_any_json(wire, value):
    with testing.served(Typed):
        answer = wire.modern("tools/call", {"name": "typed", "arguments": {"value": value}})

    assert answer.body["result"]["structuredContent"] == value


def test_the_meta_of_a_result_and_the_server_s_are_merged(wire, settings):
    settings.DJANGO_MCP = {"EXPOSE_FAULTS": True}
    body = (
        '{"errorType":"tool_fault","tool":"faulty","exception":"RuntimeError","message":"the secret is 42"}'
    )
    meta = {"django_mcp.error": "error", "django_mcp.retryable": False}
    with testing.served(Faulty):
        answer = wire.modern("tools/call", {"name": "faulty"})

    assert answer == result(text(body, is_error=True, meta=meta))


class TestAskingTheUser:
    def test_a_call_that_needs_input_says_what_it_asks(self, interview):
        requests, _ = asked(interview())

        assert requests == {"who": form("Who are you?", NAME)}

    def test_the_answer_completes_the_call_and_survives_further_rounds(self, interview):
        _, first = asked(interview())
        requests, second = asked(interview(inputResponses={"who": accepted(name="Ada")}, requestState=first))
        assert requests == {"age": form("How old?", AGE)}
        assert first != second

        answer = interview(inputResponses={"age": accepted(age=36)}, requestState=second)

        assert answer == result(text('{"name":"Ada","age":36}'))

    def test_answers_may_come_without_a_state(self, interview):
        responses = {"who": accepted(name="Ada"), "age": accepted(age=36), "unasked": {}}

        assert interview(inputResponses=responses) == result(text('{"name":"Ada","age":36}'))

    @pytest.mark.parametrize("action", ["decline", "cancel"])
    def test_a_user_may_refuse(self, interview, action):
        assert interview(inputResponses={"who": {"action": action}}) == result(text(f'{{"name":"{action}"}}'))

    @pytest.mark.parametrize("response", [{}, accepted(), accepted(name=12345), {"action": "shrug"}])
    def test_a_wrong_answer_is_asked_again(self, interview, response):
        requests, _ = asked(interview(inputResponses={"who": response}))

        assert requests == {"who": form("Who are you?", NAME)}

    def test_a_client_that_cannot_ask_gets_a_tool_error(self, interview):
        answer = interview(meta=META)

        message = "Operation failed: the client cannot ask its user (it declared no elicitation of mode form)"
        meta = {"django_mcp.error": "error", "django_mcp.retryable": False}
        assert answer == result(text(message, is_error=True, meta=meta))

    def test_nor_can_a_legacy_client(self, wire, interview):
        params = {"name": "interview", "_meta": {f"{P}clientCapabilities": {"elicitation": {}}}}
        answer = wire.post(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            {"MCP-Protocol-Version": "2025-11-25"},
        )

        assert (answer.status, answer.body["result"]["isError"]) == (200, True)

    def test_a_url_is_opened_by_clients_that_declare_it(self, wire):
        meta = {**META, f"{P}clientCapabilities": {"elicitation": {"url": {}}}}
        with testing.served(Opens):
            requests, state = asked(wire.modern("tools/call", {"name": "opens"}, meta=meta))
            params = {
                "name": "opens",
                "inputResponses": {"question_1": {"action": "accept"}},
                "requestState": state,
            }
            answer = wire.modern("tools/call", params, meta=meta)

        params = {"mode": "url", "message": "Connect.", "url": "https://shop.example.com/connect"}
        assert requests == {"question_1": {"method": "elicitation/create", "params": params}}
        assert answer == result(text('{"action":"accept"}'))


class TestState:
    @pytest.mark.parametrize("state", ["", "x", None, 5, {}])
    def test_what_is_no_state_is_refused(self, interview, state):
        assert interview(requestState=state) == INVALID_STATE

    def test_an_altered_state_is_refused_and_not_asked_again(self, interview):
        _, state = asked(interview())

        assert interview(requestState=f"{state}-TAMPERED") == INVALID_STATE

    def test_a_state_signed_for_something_else_is_refused(self, interview):
        assert interview(requestState=signing.dumps({"answers": {}}, salt="other")) == INVALID_STATE

    def test_a_state_of_other_arguments_is_refused(self, interview):
        _, state = asked(interview(arguments={"a": [1, {"b": 2, "c": 3}]}))

        assert interview(arguments={"a": [1, {"b": 2, "c": 4}]}, requestState=state) == INVALID_STATE

    def test_the_order_of_keys_is_no_difference(self, interview):
        _, state = asked(interview(arguments={"a": [1, {"b": 2, "c": 3}], "d": 4}))

        asked(interview(arguments={"d": 4, "a": [1, {"c": 3, "b": 2}]}, requestState=state))

    def test_a_state_of_another_user_is_refused(self, interview, settings):
        settings.DJANGO_MCP = {"AUTH": f"{__name__}.who"}
        _, state = asked(interview(headers={"X-User": "ada"}))

        assert interview(headers={"X-User": "eve2"}, requestState=state) == INVALID_STATE
        assert interview(headers={"X-User": ABSENT}, requestState=state) == INVALID_STATE
        asked(interview(headers={"X-User": "ada"}, requestState=state))

    def test_a_state_of_another_tool_is_refused(self, wire, interview):
        _, state = asked(interview())
        with testing.served(Opens):
            answer = wire.modern("tools/call", {"name": "opens", "requestState": state})

        assert answer == INVALID_STATE

    def test_a_state_expires(self, interview, monkeypatch):
        _, state = asked(interview())
        now = signing.time.time()
        monkeypatch.setattr(signing.time, "time", lambda: now + 601)

        assert interview(requestState=state) == INVALID_STATE

    def test_a_state_may_be_repeated(self, interview):
        _, state = asked(interview())

        for _ in range(2):
            asked(interview(requestState=state))

    def test_a_state_made_for_once_may_not(self, wire):
        with testing.served(OnceOnly):
            call = {"name": "interview"}
            _, state = asked(wire.modern("tools/call", call, meta=FORMS))
            asked(wire.modern("tools/call", {**call, "requestState": state}, meta=FORMS))

            assert wire.modern("tools/call", {**call, "requestState": state}, meta=FORMS) == INVALID_STATE


@pytest.mark.parametrize("tool", [Needs, AsyncNeeds])
class TestCapabilities:
    MESSAGE = (
        'This call needs client capabilities that the request does not declare: {"sampling":{"tools":{}}}'
    )
    DATA = {"requiredCapabilities": {"sampling": {"tools": {}}}}

    @pytest.mark.parametrize("declared", [{}, {"sampling": {}}, {"sampling": 5}])
    def test_a_capability_the_call_cannot_do_without_is_named(self, wire, tool, declared):
        with testing.served(tool):
            answer = wire.modern(
                "tools/call", {"name": "needs"}, meta={**META, f"{P}clientCapabilities": declared}
            )

        assert answer == refused("dispatch", "missing_capability", 400, -32021, self.MESSAGE, data=self.DATA)

    def test_declared_it_is_served(self, wire, tool):
        meta = {**META, f"{P}clientCapabilities": {"sampling": {"tools": {}}}}
        with testing.served(tool):
            assert wire.modern("tools/call", {"name": "needs"}, meta=meta) == result(text("{}"))

    def test_a_legacy_client_gets_it_at_200(self, wire, tool):
        with testing.served(tool):
            answer = wire.legacy("tools/call", {"name": "needs"})

        assert answer == refused("dispatch", "missing_capability", 200, -32021, self.MESSAGE, data=self.DATA)


def test_raw_input_requests_go_to_clients_that_declare_their_kind(wire):
    meta = {**META, f"{P}clientCapabilities": {"roots": {}}}
    with testing.served(Roots):
        assert wire.modern("tools/call", {"name": "roots"}) == result(text('{"roots":"unsupported"}'))
        requests, state = asked(wire.modern("tools/call", {"name": "roots"}, meta=meta))
        params = {"name": "roots", "inputResponses": {"roots": {"roots": []}}, "requestState": state}
        answer = wire.modern("tools/call", params, meta=meta)

    assert requests == {"roots": {"method": "roots/list"}}
    assert answer == result(text('{"roots":{"roots":[]}}'))


class TestLegacyShape:
    def test_a_result_has_no_stamps(self, wire):
        answer = wire.legacy("tools/call", {"name": "echo", "arguments": {"a": 1}})

        assert answer == Answer(200, {"jsonrpc": "2.0", "id": 1, "result": text('{"a":1}')})

    def test_an_error_keeps_its_meta(self, wire):
        with testing.served(Faulty):
            answer = wire.legacy("tools/call", {"name": "faulty"})

        meta = {"django_mcp.error": "error", "django_mcp.retryable": False}
        assert (answer.body["result"]["isError"], answer.body["result"]["_meta"]) == (True, meta)

    @pytest.mark.parametrize("value", [{"n": 1}, [1, 2], 5, None])
    def test_structured_content_is_an_object_or_left_out(self, wire, value):
        with testing.served(Typed):
            answer = wire.legacy("tools/call", {"name": "typed", "arguments": {"value": value}})

        assert answer.body["result"].get("structuredContent", ABSENT) == (
            value if isinstance(value, dict) else ABSENT
        )

    @pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
    def test_a_link_is_a_link(self, wire, version):
        with testing.served(Blocks):
            answer = wire.legacy("tools/call", {"name": "blocks"}, version=version)

        link = {"type": "resource_link", "uri": "orders://1", "name": "Order 1"}
        assert answer.body["result"]["content"] == [{"type": "text", "text": "see"}, link]

    def test_and_text_to_clients_from_before_there_were_links(self, wire):
        with testing.served(Blocks):
            answer = wire.legacy("tools/call", {"name": "blocks"}, version="2025-03-26")

        link = {"type": "text", "text": "Order 1: orders://1"}
        assert answer.body["result"]["content"] == [{"type": "text", "text": "see"}, link]

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "params.name must be a string that names a tool."),
            ({"name": 5}, "params.name must be a string that names a tool."),
            ({"name": "echo", "arguments": []}, "params.arguments must be an object."),
        ],
    )
    def test_malformed_params_are_refused_at_200(self, wire, params, message):
        answer = wire.legacy("tools/call", params)

        assert answer == refused("dispatch", "invalid_params", 200, -32602, message)
