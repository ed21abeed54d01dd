"""Progress as a handler reports it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from django_mcp import Context, Tool, action, report_progress, testing
from django_mcp.authoring.progress import Cancelled, Reporter, current


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def sent():
    return []


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def reporter(sent, clock):
    return Reporter(lambda *report: sent.append(report), clock)


def test_what_grows_is_sent(reporter, sent, clock):
    for step in (1, 2.5, 3):
        reporter.report(step, 3, f"step {step}")
        clock.now += 1
    assert sent == [(1, 3, "step 1"), (2.5, 3, "step 2.5"), (3, 3, "step 3")]


@pytest.mark.parametrize("dropped", [2, 1, 0, -1, math.nan])
def test_what_does_not_grow_is_dropped(reporter, sent, clock, dropped):
    reporter.report(2, None, None)
    clock.now += 1
    reporter.report(dropped, None, None)
    reporter.flush()
    assert sent == [(2, None, None)]


class Lazy:
    def __str__(self):
        return "half\ud800"


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ((Decimal("0.5"), Fraction(5, 2), "half"), (0.5, 2.5, "half")),
        ((True, 10**30, 7), (1.0, 10**30, "7")),
        ((0.5, None, Lazy()), (0.5, None, "half?")),
        ((10**400, None, None), (10**400, None, None)),
    ],
)
def test_whatever_number_or_text_it_is_a_client_gets_numbers_and_text(reporter, sent, reported, expected):
    reporter.report(*reported)
    assert sent == [expected]
    # A Decimal equals the number it stands for, and would be sent as text.
    assert [type(one) for one in sent[0]] == [type(one) for one in expected]


@pytest.mark.parametrize("number", [math.inf, math.nan, "7", 1j, Decimal("NaN"), None])
@pytest.mark.parametrize("place", ["progress", "total"])
def test_a_report_without_a_number_is_logged_and_the_next_is_sent(reporter, sent, caplog, number, place):
    total = 3 if place == "progress" else number
    reporter.report(number if place == "progress" else 1, total, None)
    reporter.report(1, 3, None)
    wrong = (place, number) != ("total", None)
    assert [record.getMessage() for record in caplog.records] == (
        ["A progress report could not be sent."] if wrong else []
    )
    assert sent == [(1, 3 if wrong else None, None)]


def test_ten_a_second_are_sent_and_the_last_one_always(reporter, sent, clock):
    for step in range(1000):
        reporter.report(step, 1000, None)
        clock.now += 0.001
    reporter.flush()
    reporter.flush()
    assert len(sent) <= 11
    assert sent[0] == (0, 1000, None)
    assert sent[-1] == (999, 1000, None)
    assert sent == sorted(sent)


def test_a_report_that_fails_is_logged_and_the_next_is_sent(clock, caplog):
    sent = []

    def send(progress, total, message):
        sent.append(progress)
        if progress == 1:
            raise OSError("gone")

    reporter = Reporter(send, clock)
    reporter.report(1, None, None)
    reporter.report("x", None, None)
    clock.now += 1
    reporter.report(2, None, None)
    assert sent == [1, 2]
    assert [record.getMessage() for record in caplog.records] == ["A progress report could not be sent."] * 2


def test_a_last_report_that_fails_is_logged(clock, caplog):
    def send(progress, total, message):
        if progress == 2:
            raise OSError("gone")

    reporter = Reporter(send, clock)
    reporter.report(1, None, None)
    reporter.report(2, None, None)
    reporter.flush()
    assert [record.getMessage() for record in caplog.records] == ["A progress report could not be sent."]


def test_nobody_asked_for_it():
    Context().report_progress(1, 2, "half")


def test_outside_of_a_call_nothing_happens():
    report_progress(1)


def test_code_without_a_context_reports_for_the_call_it_runs_for(reporter, sent):
    ctx = Context()
    ctx.reporter = reporter
    token = current.set(ctx)
    report_progress(1, 2, "half")
    current.reset(token)
    report_progress(2)
    assert sent == [(1, 2, "half")]


def test_a_call_that_was_given_up_ends_at_its_next_report():
    ctx = Context()
    ctx.cancelled = True
    with pytest.raises(Cancelled):
        ctx.report_progress(1)


class Reports(Tool):
    """Reports."""

    @action(description="Report with the function", properties={})
    def outside(self, data, ctx):
        seen = []
        ctx.reporter = Reporter(lambda *report: seen.append(list(report)))
        report_progress(1, 2, "half")
        return {"seen": seen}

    @action(description="Report with the function", properties={})
    async def outside_async(self, data, ctx):
        seen = []
        ctx.reporter = Reporter(lambda *report: seen.append(list(report)))
        report_progress(1, 2, "half")
        return {"seen": seen}


@pytest.mark.parametrize("name", ["outside", "outside_async"])
def test_a_handlers_own_call_is_the_current_one(name):
    with testing.served(Reports):
        assert (
            testing.run_tool("reports", {"action": name})["content"][0]["text"] == '{"seen":[[1,2,"half"]]}'
        )


async def test_an_awaited_handlers_own_call_is_the_current_one():
    with testing.served(Reports):
        result = await testing.arun_tool("reports", {"action": "outside_async"})
    assert result["content"][0]["text"] == '{"seen":[[1,2,"half"]]}'
