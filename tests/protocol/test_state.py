"""`requestState` holds for the call it was made for, for a while, and for nothing else."""

from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import User
from django.core import signing

from django_mcp import BaseTool, testing
from tests.asking import AGE, FORMS, INVALID_STATE, NAME, AsyncInterview, Interview, accepted, asked, form
from tests.failing import Failing
from tests.wire import ABSENT, refused, result, text

DONE = result(text('{"name":"Ada","age":36}'))


class Stranger:
    """A user-like identity that no model stands behind."""

    is_authenticated = True

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


def who(request):
    name, kind = request.META.get("HTTP_X_USER"), request.META.get("HTTP_X_KIND")
    if name is None:
        return None
    return Stranger(name) if kind else User(pk=len(name), username=name)


@pytest.fixture(params=[Interview, AsyncInterview], ids=["def", "async def"])
def tool(request):
    return request.param


@pytest.fixture
def interview(wire, tool):
    def call(*, arguments=None, headers=None, once=(), path=None, **params):
        params = {"name": "interview", "arguments": arguments or {}, **params}
        with testing.served(type("Asks", (tool,), {"__doc__": "Asks.", "once": once})):
            return wire.modern("tools/call", params, meta=FORMS, headers=headers, path=path)

    return call


@pytest.mark.parametrize("state", ["", "x", ":", "a:b:c", "é:é:é", "." * 1000, None, 5, {}, []])
def test_what_is_no_state_is_refused(interview, state):
    assert interview(requestState=state) == INVALID_STATE


@pytest.mark.parametrize("change", ["{}-TAMPERED", "x{}", " {}", "{}:x", ".{}"])
def test_an_altered_state_is_refused_and_not_asked_again(interview, change):
    _, state = asked(interview())

    assert interview(requestState=change.format(state)) == INVALID_STATE


def test_a_state_signed_for_something_else_is_refused(interview):
    assert interview(requestState=signing.dumps({"answers": {}}, salt="other")) == INVALID_STATE


def test_a_state_of_other_arguments_is_refused(interview):
    _, state = asked(interview(arguments={"a": [1, {"b": 2, "c": 3}]}))

    assert interview(arguments={"a": [1, {"b": 2, "c": 4}]}, requestState=state) == INVALID_STATE


def test_the_order_of_keys_is_no_difference(interview):
    _, state = asked(interview(arguments={"a": [1, {"b": 2, "c": 3}], "d": 4}))

    asked(interview(arguments={"d": 4, "a": [1, {"c": 3, "b": 2}]}, requestState=state))


@pytest.mark.parametrize("kind", [{}, {"X-Kind": "stranger"}])
def test_a_state_of_another_user_is_refused(interview, settings, kind):
    settings.DJANGO_MCP = {"AUTH": f"{__name__}.who"}
    _, state = asked(interview(headers={"X-User": "ada", **kind}))

    assert interview(headers={"X-User": "eve2", **kind}, requestState=state) == INVALID_STATE
    assert interview(headers={"X-User": ABSENT}, requestState=state) == INVALID_STATE
    other = {} if kind else {"X-Kind": "stranger"}
    assert interview(headers={"X-User": "ada", **other}, requestState=state) == INVALID_STATE
    asked(interview(headers={"X-User": "ada", **kind}, requestState=state))


def test_a_state_of_another_tool_is_refused(wire, interview):
    class Other(BaseTool):
        """Other."""

        input_schema = {"type": "object"}

        def run(self, arguments, ctx):
            return {}

    _, state = asked(interview())
    with testing.served(Other):
        answer = wire.modern("tools/call", {"name": "other", "arguments": {}, "requestState": state})

    assert answer == INVALID_STATE


@pytest.mark.urls("tests.protocol.urls")
def test_a_state_of_another_server_is_refused(interview, settings):
    settings.DJANGO_MCP = {"SERVERS": {"staff": {}}}
    _, state = asked(interview())

    assert interview(path="/staff", requestState=state) == INVALID_STATE
    _, state = asked(interview(path="/staff"))
    asked(interview(path="/staff", requestState=state))


@pytest.mark.parametrize(("age", "accepts"), [(None, 600), (5, 5)])
def test_a_state_expires(interview, settings, monkeypatch, age, accepts):
    settings.DJANGO_MCP = {} if age is None else {"STATE_MAX_AGE_S": age}
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    _, state = asked(interview())

    monkeypatch.setattr(time, "time", lambda: now + accepts - 1)
    asked(interview(requestState=state))
    monkeypatch.setattr(time, "time", lambda: now + accepts + 2)
    assert interview(requestState=state) == INVALID_STATE


def test_a_state_survives_a_change_of_the_secret_key(interview, settings):
    _, state = asked(interview())
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [settings.SECRET_KEY]

    asked(interview(requestState=state))


def test_a_state_may_be_repeated(interview):
    _, first = asked(interview())
    _, second = asked(interview(requestState=first, inputResponses={"who": accepted(name="Ada")}))

    for _ in range(2):
        assert interview(requestState=second, inputResponses={"age": accepted(age=36)}) == DONE


def without_background(settings):
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "django_mcp.background"]


class TestOnce:
    """An answer to a question asked with `once` holds for a single repetition of the call."""

    WHO = {"who": accepted(name="Ada")}
    AGE = {"age": accepted(age=36)}

    @pytest.fixture(autouse=True, params=["database", "cache"])
    def memory(self, request, settings, db):
        """Where it is remembered: in the database where its app is installed, else in the cache."""
        if request.param == "cache":
            without_background(settings)
            settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

    def test_its_state_is_accepted_a_single_time(self, interview):
        _, state = asked(interview(once=["who"]))
        asked(interview(once=["who"], requestState=state, inputResponses=self.WHO))

        again = interview(once=["who"], requestState=state, inputResponses=self.WHO)
        assert again == INVALID_STATE

    def test_an_answer_without_a_state_is_asked_for_again(self, interview):
        requests, state = asked(interview(once=["who"], inputResponses=self.WHO | self.AGE))
        assert requests == {"who": form("Who are you?", NAME)}

        answers = self.WHO | self.AGE
        assert interview(once=["who"], requestState=state, inputResponses=answers) == DONE

    def test_so_is_one_with_the_state_of_an_earlier_question(self, interview):
        _, first = asked(interview(once=["age"]))
        requests, second = asked(
            interview(once=["age"], requestState=first, inputResponses=self.WHO | self.AGE)
        )
        assert requests == {"age": form("How old?", AGE)}

        assert interview(once=["age"], requestState=second, inputResponses=self.AGE) == DONE

    def test_further_questions_do_not_make_it_last(self, interview):
        _, first = asked(interview(once=["who"]))
        _, second = asked(interview(once=["who"], requestState=first, inputResponses=self.WHO))

        assert interview(once=["who"], requestState=second, inputResponses=self.AGE) == DONE
        assert interview(once=["who"], requestState=second, inputResponses=self.AGE) == INVALID_STATE

    def test_a_wrong_answer_costs_the_state_and_gets_another(self, interview):
        _, first = asked(interview(once=["who"]))
        requests, second = asked(interview(once=["who"], requestState=first, inputResponses={"who": {}}))
        assert requests == {"who": form("Who are you?", NAME)}

        asked(interview(once=["who"], requestState=second, inputResponses=self.WHO))

    def test_the_cache_that_remembers_is_a_setting(self, interview, settings):
        without_background(settings)
        backend = "django.core.cache.backends.{}.{}"
        settings.CACHES = {
            "default": {"BACKEND": backend.format("dummy", "DummyCache")},
            "shared": {"BACKEND": backend.format("locmem", "LocMemCache")},
        }
        settings.DJANGO_MCP = {"CACHE": "shared"}
        _, state = asked(interview(once=["who"]))
        asked(interview(once=["who"], requestState=state))

        assert interview(once=["who"], requestState=state) == INVALID_STATE

    def test_where_the_single_use_cannot_be_noted_nothing_runs(self, interview, settings, monkeypatch):
        without_background(settings)
        settings.CACHES = {"default": {"BACKEND": "tests.failing.Failing", "LOCATION": "once"}}
        _, state = asked(interview(once=["who"]))
        answers = self.WHO | self.AGE
        monkeypatch.setattr(Failing, "failing", frozenset({"add"}))
        assert interview(once=["who"], requestState=state, inputResponses=answers) == refused(
            "dispatch", "internal_error", 200, -32603, "Internal error; the server's log has it."
        )

        monkeypatch.undo()
        assert interview(once=["who"], requestState=state, inputResponses=answers) == DONE
