"""A failure that passes by itself is tried again."""

from __future__ import annotations

import logging
import random

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError, connections

from django_mcp import Policy, Retry, Tool, ToolError, action, errors, testing
from example_project.tracker.models import Project
from tests.asking import NAME
from tests.policy.answers import Script, code, error, ok
from tests.wire import members

RETRY = Policy(retry=Retry(attempts=3, base_delay=1, max_delay=3, jitter=False))


def test_an_attempt_that_fails_is_followed_by_another(serve, clock, heard):
    handle = Script(errors.TransientError("busy"), OperationalError("SELECT secret"), {"sold": 1})
    call = serve(handle, RETRY)

    assert call() == ok({"sold": 1}, attempts=3)
    assert (handle.calls, clock.slept) == (3, [1, 2])
    names = [name for name, _ in heard]
    assert names == ["tool_started", "attempt_retried", "attempt_retried", "tool_stopped"]
    facts = {"server": "default", "tool": "shop", "action": "buy", "request_id": 1}
    first = {"attempt": 1, "delay": 1, "exception": "TransientError", "error": "busy"}
    assert heard[1][1] == {**facts, **first}
    assert (heard[2][1]["attempt"], heard[2][1]["delay"]) == (2, 2)
    stopped = heard[3][1]
    assert (stopped["source"], stopped["degraded"], stopped["attempts"]) == ("live", False, 3)


def test_pauses_double_up_to_the_longest_one(serve_sync, clock):
    policy = Policy(retry=Retry(attempts=6, base_delay=0.5, max_delay=3, jitter=False))
    serve_sync(Script(errors.TransientError()), policy)()

    assert clock.slept == [0.5, 1, 2, 3, 3]


def test_with_jitter_a_pause_is_a_random_part_of_that(serve_sync, clock):
    random.seed(7)
    policy = Policy(retry=Retry(attempts=200, base_delay=1, max_delay=4))
    serve_sync(Script(errors.TransientError()), policy)()

    assert 0 <= clock.slept[0] <= 1
    assert 0 <= clock.slept[1] <= 2
    assert all(0 <= pause <= 4 for pause in clock.slept[2:])
    assert min(clock.slept[2:]) < 0.5
    assert max(clock.slept[2:]) > 3.5


@pytest.mark.parametrize("attempts", [1, 3])
def test_when_every_attempt_failed_the_caller_learns_how_many(serve, clock, caplog, attempts):
    policy = Policy(retry=Retry(attempts=attempts, base_delay=0, max_delay=1))
    call = serve(Script(errors.ComponentUnavailable("no printer")), policy)

    assert call() == error(
        f"shop buy was tried {attempts} times and failed each time. The last time: no printer\n"
        f"It was tried {attempts} times already; wait before you call again.",
        "retry_exhausted",
        True,
        attempts=attempts,
    )
    [record] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.getMessage() == f"shop buy failed in {attempts} attempts."
    assert isinstance(record.exc_info[1], errors.ComponentUnavailable)


def test_the_text_of_an_unexpected_failure_stays_in_the_log(serve_sync, clock):
    text = serve_sync(Script(OperationalError("SELECT secret")), RETRY)()["content"][0]["text"]

    assert text.startswith("shop buy was tried 3 times and failed each time.\n")


@pytest.mark.parametrize(
    ("raised", "answered"),
    [
        (errors.PermanentError("closed"), "permanent"),
        (ToolError("no such lamp"), "error"),
        (ValueError("bug"), "error"),
        (TimeoutError("of the site's own"), "error"),
        (SystemExit(3), "error"),
    ],
)
def test_nothing_else_is_tried_again(serve, clock, raised, answered):
    handle = Script(raised)
    call = serve(handle, RETRY)

    assert code(call()) == answered
    assert (handle.calls, clock.slept) == (1, [])


def test_a_site_says_what_passes_by_itself(serve, clock, settings):
    settings.DJANGO_MCP = {"CLASSIFIER": f"{__name__}.by_site"}
    call = serve(Script(ConnectionResetError("x"), 1), RETRY)

    assert call() == ok(1, attempts=2)


def by_site(raised):
    return "transient" if isinstance(raised, ConnectionResetError) else None


def test_each_attempt_gets_the_data_as_it_was_sent(serve, clock):
    seen = []

    def spoil(data, ctx):
        seen.append(dict(data))
        data.clear()
        return errors.TransientError()

    serve(Script(spoil), RETRY)(n=[1], m=2)

    assert seen == [{"n": [1], "m": 2}] * 3


def test_each_attempt_asks_its_questions_anew(serve, clock):
    def ask(data, ctx):
        return ctx.elicit("Who?", NAME).content["name"]

    def ask_and_fail(data, ctx):
        ask(data, ctx)
        return errors.TransientError()

    call = serve(Script(ask_and_fail, ask_and_fail, ask), RETRY)

    # The call that asks is one failed attempt, too: it ends the call before the handler can fail.
    assert call(answers={"question_1": {"name": "Ada"}})["content"][0]["text"] == '"Ada"'


def test_a_question_is_no_failure(serve, clock):
    handle = Script(lambda data, ctx: ctx.elicit("Who?", NAME))
    call = serve(handle, RETRY)
    result = call(ctx=testing.build_context(capabilities={"elicitation": {"form": {}}}))

    assert list(result["inputRequests"]) == ["question_1"]
    assert handle.calls == 1


@pytest.mark.django_db(transaction=True)
def test_what_a_failed_attempt_wrote_is_rolled_back(serve_sync, clock, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    outcomes = iter([errors.TransientError(), errors.TransientError(), None])

    def write(data, ctx):
        Project.objects.create(name="p")
        outcome = next(outcomes)
        return outcome or Project.objects.count()

    assert serve_sync(Script(write), RETRY)() == ok(1, attempts=3)
    assert Project.objects.count() == 1


#: Pauses beside which the time that the test itself takes is nothing.
SLOW = Policy(retry=Retry(attempts=3, base_delay=1000, max_delay=3000, jitter=False))


class Limited(Tool):
    """An async tool whose calls have a limit."""

    calls: list[int]
    raised: Exception

    @action(description="Buy", properties={}, policy=SLOW, timeout=1500)
    async def buy(self, data, ctx):
        self.calls.append(1)
        raise self.raised


@pytest.mark.parametrize("way", [testing.run_tool, async_to_sync(testing.arun_tool)], ids=["thread", "loop"])
@pytest.mark.parametrize(
    ("raised", "calls", "text"),
    [
        (errors.TransientError("busy"), 2, "limited buy failed, and no time is left to try it again."),
        (errors.DeadlineExceeded("the call is over"), 1, "the call is over"),
    ],
)
def test_no_attempt_begins_when_the_time_of_the_call_is_over(clock, way, raised, calls, text):
    """The first pause of 1000 seconds fits in, the next one of 2000 does not."""
    tool = type("Limited", (Limited,), {"__doc__": "L.", "calls": [], "raised": raised})
    with testing.served(tool):
        result = members(way("limited", action="buy"))

    assert result == error(f"{text}\nIt took too long; calling again may work.", "timeout", True)
    assert len(tool.calls) == calls
