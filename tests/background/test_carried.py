"""What goes with the work of a caller: language, time zone and trace. A worker has others of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone as current
from django.utils import translation
from django.utils.translation import gettext_lazy

from django_mcp import Tool, action, signals, testing
from django_mcp.background import work
from django_mcp.dispatch import tasks
from tests.background.conftest import MEMORY
from tests.background.test_work import unstarted

__all__ = ["unstarted"]

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
FORM = {"type": "object", "properties": {}}
EXTENSION = {"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}}
TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage": "a=b\0"}


class Calendar(Tool):
    """A calendar."""

    @action(description="Today", properties={}, background=True)
    def today(self, data, ctx):
        ctx.report_progress(1, message=gettext_lazy("Monday"))
        return {"day": gettext_lazy("Monday"), "noon": current.localtime(NOON).isoformat()}

    @action(description="Today", properties={}, background=True)
    async def atoday(self, data, ctx):
        ctx.report_progress(1, message=gettext_lazy("Monday"))
        return {"day": gettext_lazy("Monday"), "noon": current.localtime(NOON).isoformat()}

    @action(description="Ask", properties={}, background=True)
    def ask(self, data, ctx):
        ctx.elicit(gettext_lazy("Monday"), FORM, key="day")
        return {"day": gettext_lazy("Monday")}

    @action(description="Trace", properties={}, background=True)
    def traced(self, data, ctx):
        return {"meta": dict(ctx.meta), "trace": ctx.trace}


class Nameless(tzinfo):
    """A time zone that nobody can name."""

    def utcoffset(self, moment):
        return None if moment is None else timedelta(hours=3)

    def dst(self, moment):
        return timedelta(0)

    def tzname(self, moment):
        return "nameless"


@pytest.fixture(params=["django_mcp.background.store.OrmStore", MEMORY], ids=["database", "memory"])
def calendar(request, db, in_memory, unstarted):
    in_memory["STORE"] = request.param
    with testing.served(Calendar):
        yield


def perform(task_id):
    """Do the work as a worker that goes by French and Tokyo, and still does afterwards."""
    with translation.override("fr"), current.override("Asia/Tokyo"):
        work.perform(task_id, watched=False)
        assert (translation.get_language(), current.get_current_timezone_name()) == ("fr", "Asia/Tokyo")
    return tasks.load(task_id)


@pytest.mark.parametrize("called", ["today", "atoday"])
@pytest.mark.parametrize(
    ("language", "zone", "day", "noon"),
    [
        ("de", ZoneInfo("Europe/Berlin"), "Montag", "2026-07-01T14:00:00+02:00"),
        ("en-us", timezone(-timedelta(hours=3, minutes=30)), "Monday", "2026-07-01T08:30:00-03:30"),
        ("en-us", UTC, "Monday", "2026-07-01T12:00:00+00:00"),
        ("de", Nameless(), "Montag", "2026-07-01T21:00:00+09:00"),
        (None, ZoneInfo("UTC"), "Monday", "2026-07-01T12:00:00+00:00"),
    ],
)
def test_the_work_is_in_the_language_and_the_time_zone_of_its_caller(
    calendar, called, language, zone, day, noon
):
    with translation.override(language), current.override(zone):
        task_id = testing.run_tool("calendar", action=called)["structuredContent"]["task_id"]
    record = perform(task_id)

    assert (record.status, record.status_message) == ("completed", day)
    assert testing.structured(testing.run_tool("task_result", {"task_id": task_id})) == {
        "result": {"day": day, "noon": noon}
    }


def test_so_is_a_question_and_what_comes_after_it(calendar):
    with translation.override("de"):
        ctx = testing.build_context(capabilities=EXTENSION)
        task_id = testing.run_tool("calendar", action="ask", ctx=ctx)["taskId"]
    record = perform(task_id)
    assert record.questions["day"]["request"]["params"]["message"] == "Montag"

    tasks.deliver(record, {"day": {"action": "accept", "content": {}}})
    assert perform(task_id).result["content"] == [{"type": "text", "text": '{"day":"Montag"}'}]


def test_a_task_without_them_is_done_in_the_workers_own(calendar, monkeypatch):
    """One that was handed over before they travelled."""
    monkeypatch.setattr("django_mcp.dispatch.locale.snapshot", dict)
    task_id = testing.run_tool("calendar", action="today")["structuredContent"]["task_id"]

    assert perform(task_id).result["content"] == [
        {"type": "text", "text": '{"day":"lundi","noon":"2026-07-01T21:00:00+09:00"}'}
    ]


def test_work_for_a_time_zone_that_its_worker_does_not_know_fails(calendar, monkeypatch, caplog):
    monkeypatch.setattr("django_mcp.dispatch.locale.snapshot", lambda: {"time_zone": "Nowhere/Land"})
    task_id = testing.run_tool("calendar", action="today")["structuredContent"]["task_id"]
    record = perform(task_id)

    assert (record.status, record.status_message) == (
        "failed",
        "The work failed outside of its tool; the site's log has it.",
    )
    assert "Nowhere/Land" in caplog.text


def test_the_trace_of_the_request_is_the_works_and_nothing_else_of_its_meta(calendar):
    heard = []

    def hear(**fields):
        heard.append(fields["trace"])

    ctx = testing.build_context(meta={**TRACE, "tracestate": 7, "other": "x"})
    signals.tool_started.connect(hear)
    try:
        task_id = testing.run_tool("calendar", action="traced", ctx=ctx)["structuredContent"]["task_id"]
        record = perform(task_id)
    finally:
        signals.tool_started.disconnect(hear)

    assert heard == [TRACE, TRACE]
    assert record.trace == {}  # it may say anything, and no run follows
    assert testing.structured(testing.run_tool("task_result", {"task_id": task_id})) == {
        "result": {"meta": TRACE, "trace": TRACE}
    }
