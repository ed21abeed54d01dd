"""The limit of a server is one of requests, which somebody waits for; the work of a task has but its own."""

from __future__ import annotations

import asyncio

import pytest

from django_mcp import Tool, action, testing
from tests.wire import members, text

#: Beside which nothing that a test does takes any time.
SOON = 0.001


class Reports(Tool):
    """Reports."""

    @action(description="Take its time", properties={}, background=True)
    async def patient(self, data, ctx):
        await asyncio.sleep(SOON * 10)
        return {"done": True}

    @action(description="Take too long", properties={}, background=True, timeout=SOON)
    async def hasty(self, data, ctx):
        await asyncio.Event().wait()


@pytest.fixture
def work(client, settings):
    """The result and the status of an action's work."""
    settings.DJANGO_MCP = {**settings.DJANGO_MCP, "CALL_TIMEOUT": SOON}

    def work(name):
        with testing.served(Reports):
            task_id = client.submit("reports", action=name)
            return client.result(task_id), client.status(task_id)["status"]

    return work


def test_work_takes_longer_than_any_call_may(work):
    result, status = work("patient")

    assert (testing.structured(result), status) == ({"result": {"done": True}}, "completed")


def test_work_takes_no_longer_than_it_may_itself(work):
    result, status = work("hasty")

    said = f"The call took longer than {SOON} seconds.\nIt took too long; calling again may work."
    meta = {"django_mcp.error": "timeout", "django_mcp.retryable": True}
    assert (members(result), status) == (text(said, is_error=True, meta=meta), "failed")
