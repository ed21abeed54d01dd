"""Nothing is destroyed before its user has said so (`CONFIRM_DESTRUCTIVE`)."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from pydantic import BaseModel, SecretStr

from django_mcp import BaseTool, Tool, ToolError, Toolset, action, signals, testing
from django_mcp.background.models import SpentState
from tests.asking import FORMS, INVALID_STATE, accepted, asked, form
from tests.factories import UserFactory
from tests.wire import LEGACY, META, P, result, text

pytestmark = pytest.mark.django_db

EMPTY = {"type": "object", "properties": {}}


class Files(Tool):
    """Files of the site."""

    title = "The files"
    deleted: list = []

    @action(
        description="Delete a file",
        properties={"id": {"type": "integer"}, "confirm": {"type": "boolean"}},
        required=["id"],
        destructive=True,
    )
    def delete(self, data, ctx):
        self.deleted.append(data["id"])
        return {"deleted": data["id"]}

    @action(description="Delete it all", properties={}, destructive=True)
    async def wipe(self, data, ctx):
        self.deleted.append("all")
        return {"deleted": "all"}

    @action(description="Ask, then delete", properties={}, destructive=True)
    def choose(self, data, ctx):
        which = ctx.elicit(
            "Which?", {"type": "object", "properties": {"id": {"type": "integer"}}}, key="which"
        )
        self.deleted.append(which.content["id"])
        return {"deleted": which.content["id"]}

    @action(description="List the files", properties={}, read_only=True)
    def list(self, data, ctx):
        return {"files": []}


class Format(BaseTool):
    """Erases the disk."""

    name = "format"
    input_schema = {"type": "object"}
    annotations = {"destructiveHint": True}

    def run(self, arguments, ctx):
        return {"formatted": arguments}


class Vault(Tool):
    """A vault."""

    @action(description="Empty it", destructive=True)
    def empty(self, code: SecretStr, floor: int):
        return {}


class Accounts(Tool):
    """Accounts."""

    @action(
        description="Close one",
        properties={
            "code": {"type": "string", "format": "password"},
            "owner": {
                "type": "object",
                "properties": {"pin": {"type": "string", "writeOnly": True}, "n": {}},
            },
            "keys": {"type": "array", "items": {"type": "string", "format": "password"}},
            "floor": {"type": "integer"},
        },
        destructive=True,
    )
    def close(self, data, ctx):
        return {}


class Shredder(BaseTool):
    """Shreds."""

    input_schema = {"type": "object", "properties": {"code": {"type": "string", "writeOnly": True}}}
    options = {"destructive": True}

    def run(self, arguments, ctx):
        return {}


class Owner(BaseModel):
    pin: SecretStr
    name: str


class Gate(Toolset):
    destructive = True

    def execute(self, owner: Owner, codes: list[SecretStr]) -> int:
        """Open it."""
        return 1


class Alarm(Toolset):
    destructive = True

    def execute(self, code: SecretStr, floor: int) -> int:
        """Switch it off."""
        return floor


@pytest.fixture
def call(wire, settings):
    """Call the tools of a server that asks before destruction."""
    settings.DJANGO_MCP = {"CONFIRM_DESTRUCTIVE": True}
    Files.deleted = []

    def call(action="delete", data=None, *, tool="files", meta=FORMS, arguments=None, **params):
        arguments = arguments or {"action": action, "data": {"id": 7} if data is None else data}
        return wire.modern("tools/call", {"name": tool, "arguments": arguments, **params}, meta=meta)

    with testing.served(Files, Format, Vault, Alarm, Accounts, Shredder, Gate):
        yield call


QUESTION = {
    "confirm": form('The files: delete is destructive. It would run with {"id":7}. Go on?', EMPTY),
}
ACCEPT = {"confirm": {"action": "accept"}}
DONE = result(text('{"deleted":7}'))
DECLINED = result(
    text(
        "The user did not consent, so nothing was done. Do not call again unless the user asks for it.",
        is_error=True,
        meta={"django_mcp.error": "declined", "django_mcp.retryable": False},
    )
)
UNSUPPORTED = text(
    "This is destructive and needs the user's consent, but the client cannot ask for it: its request declares no "
    "capability elicitation.form. Tell the user to do it by other means.",
    is_error=True,
    meta={"django_mcp.error": "confirmation_unsupported", "django_mcp.retryable": False},
)


NESTED = {"code": "s", "owner": {"pin": "s", "n": 1}, "keys": ["s", "s"], "floor": 3}


@pytest.mark.parametrize(
    ("tool", "arguments", "what", "shown"),
    [
        (
            "vault",
            {"action": "empty", "data": {"code": "1234", "floor": 3}},
            "vault: empty",
            '{"code":"**********","floor":3}',
        ),
        (
            "alarm__execute",
            {"code": "1234", "floor": 3},
            "alarm__execute",
            '{"code":"**********","floor":3}',
        ),
        (
            "accounts",
            {"action": "close", "data": NESTED},
            "accounts: close",
            '{"code":"**********","owner":{"pin":"**********","n":1},"keys":["**********","**********"],"floor":3}',
        ),
        (
            "gate__execute",
            {"owner": {"pin": "1234", "name": "ada"}, "codes": ["1234"]},
            "gate__execute",
            '{"owner":{"pin":"**********","name":"ada"},"codes":["**********"]}',
        ),
        ("shredder", {"code": "1234", "floor": 3}, "shredder", '{"code":"**********","floor":3}'),
    ],
)
def test_the_question_shows_no_secret(call, tool, arguments, what, shown):
    requests, _ = asked(call(tool=tool, arguments=arguments))
    assert requests["confirm"]["params"]["message"] == (
        f"{what} is destructive. It would run with {shown}. Go on?"
    )


def test_it_is_off_by_default(call, settings):
    settings.DJANGO_MCP = {}

    assert call() == DONE


def test_the_user_is_asked_and_on_acceptance_it_runs_once(call):
    requests, state = asked(call())
    assert (requests, Files.deleted) == (QUESTION, [])

    assert call(requestState=state, inputResponses=ACCEPT) == DONE
    assert Files.deleted == [7]


def test_acceptance_may_carry_a_content_which_means_nothing(call):
    _, state = asked(call())

    assert call(requestState=state, inputResponses={"confirm": accepted(anything=False)}) == DONE


def test_an_async_action_is_confirmed_alike(call):
    requests, state = asked(call("wipe", {}))
    assert requests == {
        "confirm": form("The files: wipe is destructive. It would run with {}. Go on?", EMPTY)
    }

    assert call("wipe", {}, requestState=state, inputResponses=ACCEPT) == result(text('{"deleted":"all"}'))


def test_a_tool_without_actions_is_confirmed_by_what_its_annotations_say(call):
    requests, state = asked(call(tool="format", arguments={"disk": "sda"}))
    message = 'format is destructive. It would run with {"disk":"sda"}. Go on?'
    assert requests == {"confirm": form(message, EMPTY)}

    answer = call(tool="format", arguments={"disk": "sda"}, requestState=state, inputResponses=ACCEPT)
    assert answer == result(text('{"formatted":{"disk":"sda"}}'))


def test_long_arguments_are_shown_bounded(call):
    requests, _ = asked(call(tool="format", arguments={"disk": "x" * 1000}))

    message = requests["confirm"]["params"]["message"]
    shown = '{"disk":"' + "x" * 191
    assert message == f"format is destructive. It would run with {shown}… (1011 characters). Go on?"


@pytest.mark.parametrize("answer", ["decline", "cancel"])
def test_without_acceptance_nothing_is_done(call, answer):
    _, state = asked(call())

    assert call(requestState=state, inputResponses={"confirm": {"action": answer}}) == DECLINED
    assert Files.deleted == []


@pytest.mark.parametrize("answer", [{}, {"action": "yes"}, {"action": "accept", "content": None}])
def test_what_is_no_answer_is_asked_again(call, answer):
    _, state = asked(call())
    requests, _ = asked(call(requestState=state, inputResponses={"confirm": answer}))

    assert (requests, Files.deleted) == (QUESTION, [])


def test_a_boolean_argument_is_no_consent(call):
    requests, _ = asked(call(data={"id": 7, "confirm": True}))

    assert list(requests) == ["confirm"]
    assert Files.deleted == []


def test_an_acceptance_that_nobody_asked_for_is_none(call):
    requests, _ = asked(call(inputResponses=ACCEPT))

    assert (requests, Files.deleted) == (QUESTION, [])


def test_a_consent_holds_for_one_call(call):
    _, state = asked(call())
    assert call(requestState=state, inputResponses=ACCEPT) == DONE

    assert call(requestState=state, inputResponses=ACCEPT) == INVALID_STATE
    assert Files.deleted == [7]


@pytest.mark.parametrize(
    "other",
    [
        {"data": {"id": 8}},
        {"data": {"id": 7, "confirm": True}},
        {"action": "wipe", "data": {}},
        {"tool": "format", "arguments": {"action": "delete", "data": {"id": 7}}},
    ],
    ids=["arguments", "more arguments", "action", "tool"],
)
def test_a_consent_is_to_this_very_call(call, other):
    _, state = asked(call())

    assert call(**other, requestState=state, inputResponses=ACCEPT) == INVALID_STATE
    assert Files.deleted == []


def test_a_consent_is_of_this_very_user(call, settings, monkeypatch):
    users = [UserFactory(), UserFactory()]
    settings.DJANGO_MCP = {"CONFIRM_DESTRUCTIVE": True, "AUTH": f"{__name__}.authenticate"}
    monkeypatch.setattr(Caller, "user", users[0])
    _, state = asked(call())

    monkeypatch.setattr(Caller, "user", users[1])
    assert call(requestState=state, inputResponses=ACCEPT) == INVALID_STATE
    monkeypatch.setattr(Caller, "user", users[0])
    assert call(requestState=state, inputResponses=ACCEPT) == DONE


class Caller:
    user: User | None = None


def authenticate(request):
    return Caller.user


def test_arguments_are_judged_before_the_user_is_bothered(call):
    answer = call(data={"id": "seven"})

    assert json.loads(answer.body["result"]["content"][0]["text"])["error"] == "invalid_values"


def test_what_destroys_nothing_is_not_asked_about(call):
    assert call("list", {}) == result(text('{"files":[]}'))


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"sampling": {}}])
def test_a_client_that_cannot_ask_is_refused(call, capabilities):
    meta = {**META, f"{P}clientCapabilities": capabilities}

    assert call(meta=meta) == result(UNSUPPORTED)
    assert call(meta=meta, inputResponses=ACCEPT) == result(UNSUPPORTED)
    assert Files.deleted == []


@pytest.mark.parametrize("version", LEGACY)
def test_a_client_of_an_earlier_revision_is_refused(call, wire, version):
    params = {"name": "files", "arguments": {"action": "delete", "data": {"id": 7}}}
    answer = wire.legacy("tools/call", params, version=version)

    assert answer.body["result"] == UNSUPPORTED
    assert Files.deleted == []


def test_a_consent_goes_on_through_further_questions_and_still_holds_once(call):
    _, first = asked(call("choose", {}))
    requests, second = asked(call("choose", {}, requestState=first, inputResponses=ACCEPT))
    assert list(requests) == ["which"]

    answers = {"which": accepted(id=3)}
    assert call("choose", {}, requestState=second, inputResponses=answers) == result(text('{"deleted":3}'))
    assert call("choose", {}, requestState=second, inputResponses=answers) == INVALID_STATE
    assert Files.deleted == [3]


def test_the_handler_was_not_started_say_the_signals(call):
    heard = []

    def hear(**fields):
        heard.append((fields["is_error"], fields["error_kind"], fields["attempts"]))

    signals.tool_stopped.connect(hear)
    try:
        call(meta=META)
    finally:
        signals.tool_stopped.disconnect(hear)

    assert heard == [(True, "dispatch", 0)]


class TestSpending:
    def test_a_nonce_is_spent_once(self):
        assert SpentState.objects.spend("n", 600) is True
        assert SpentState.objects.spend("n", 600) is False
        assert str(SpentState.objects.get()) == "n"

    def test_one_that_would_be_too_old_anyway_is_forgotten(self):
        SpentState.objects.spend("old", -1)
        SpentState.objects.spend("new", 600)

        assert [spent.nonce for spent in SpentState.objects.all()] == ["new"]


@pytest.mark.django_db(transaction=True)
class TestRollback:
    @pytest.fixture(autouse=True)
    def atomic(self, settings, monkeypatch):
        from django.db import connections

        monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
        settings.DJANGO_MCP = {"CONFIRM_DESTRUCTIVE": True}

    def test_a_failed_call_does_not_give_the_consent_back(self, wire):
        class Fail(BaseTool):
            """Destroys and fails."""

            name = "fail"
            input_schema = {"type": "object"}
            options = {"destructive": True}

            def run(self, arguments, ctx):
                User.objects.create(username="written")
                raise ToolError("it went wrong")

        with testing.served(Fail):
            call = {"name": "fail", "arguments": {}}
            _, state = asked(wire.modern("tools/call", call, meta=FORMS))
            call |= {"requestState": state, "inputResponses": ACCEPT}
            failed = wire.modern("tools/call", call, meta=FORMS)
            again = wire.modern("tools/call", call, meta=FORMS)

        assert failed.body["result"]["content"][0]["text"] == "Operation failed: it went wrong"
        assert again == INVALID_STATE
        assert User.objects.count() == 0

    def test_a_consent_inside_somebody_s_transaction_is_refused(self):
        with pytest.raises(RuntimeError), transaction.atomic():
            SpentState.objects.spend("n", 600)
        assert not SpentState.objects.exists()
