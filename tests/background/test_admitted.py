"""A permission is asked at submission, where there is a request; the worker does what was admitted."""

from __future__ import annotations

import pytest

from django_mcp import BaseTool, Tool, action, testing
from django_mcp.background import work
from django_mcp.dispatch import tasks
from tests.background.test_work import unstarted
from tests.factories import UserFactory

__all__ = ["unstarted"]


class Ledger(Tool):
    """A ledger."""

    #: In which tasks the permission was asked, None for none; and what it answers by.
    asked: list = []
    may = None

    @staticmethod
    def permitted(ctx):
        Ledger.asked.append(ctx.task)
        return Ledger.may(ctx)

    @action(
        description="Close it", properties={}, background=True, permission=lambda ctx: Ledger.permitted(ctx)
    )
    def close(self, data, ctx):
        return {"closed": ctx.user.get_username()}

    @action(
        description="Audit it", properties={}, background=True, permission=lambda ctx: Ledger.permitted(ctx)
    )
    async def audit(self, data, ctx):
        return {"closed": ctx.user.get_username()}


class Files(Tool):
    """Files."""

    @action(description="Drop them", properties={}, background=True)
    def drop(self, data, ctx):
        return {}


class FewerFiles(Tool):
    """Files."""

    name = "files"

    @action(description="List them", properties={}, background=True)
    def list(self, data, ctx):
        return {}

    @action(description="For others", properties={}, permission=lambda ctx: False)
    def hidden(self, data, ctx):
        return {}


class Vault(BaseTool):
    """A vault, hidden as a whole."""

    options = {"background": True}
    permission = staticmethod(lambda ctx: Ledger.permitted(ctx))
    input_schema = {"type": "object", "properties": {}}

    def run(self, arguments, ctx):
        return {"closed": ctx.user.get_username()}


@pytest.mark.django_db
@pytest.mark.usefixtures("in_memory", "unstarted")
class TestAdmitted:
    @pytest.fixture(
        params=[("ledger", "close"), ("ledger", "audit"), ("vault", None)],
        ids=["sync", "async", "whole tool"],
    )
    def submitted(self, request, monkeypatch):
        """Submit as somebody who may."""
        monkeypatch.setattr(Ledger, "asked", [])
        tool, action = request.param

        def submitted(may, ctx):
            monkeypatch.setattr(Ledger, "may", staticmethod(may))
            receipt = testing.run_tool(tool, action=action, ctx=ctx)
            assert set(Ledger.asked) == {None}
            return receipt["structuredContent"]["task_id"]

        with testing.served(Ledger, Vault, Files):
            yield submitted

    @pytest.mark.parametrize(
        "may",
        [
            lambda ctx: ctx.assigns["role"] == "clerk",
            lambda ctx: ctx.headers["x-role"] == "clerk",
            lambda ctx: ctx.meta["role"] == "clerk",
            lambda ctx: ctx.request.path == "/mcp",
            lambda ctx: ctx.user.has_perm("auth.change_user"),
        ],
        ids=["assigns", "headers", "meta", "request", "user"],
    )
    def test_nothing_of_the_request_is_needed_again(self, submitted, may, rf):
        clerk = UserFactory(username="ada", is_superuser=True)
        ctx = testing.build_context(user=clerk, headers={"x-role": "clerk"}, assigns={"role": "clerk"})
        ctx.request, ctx.meta = rf.post("/mcp"), {"role": "clerk"}
        task_id = submitted(may, ctx)
        type(clerk).objects.update(is_superuser=False)
        work.perform(task_id)

        record = tasks.load(task_id)
        assert (record.status, record.result["content"]) == (
            "completed",
            [{"type": "text", "text": '{"closed":"ada"}'}],
        )
        assert set(Ledger.asked) == {None}

    def test_of_an_action_that_is_gone_the_caller_learns_no_more_than_before(self, submitted):
        task_id = testing.run_tool("files", action="drop")["structuredContent"]["task_id"]
        with testing.served(FewerFiles):
            work.perform(task_id)

        assert tasks.load(task_id).status == "failed"
        answered = testing.run_tool("task_result", {"task_id": task_id})
        assert testing.error_json(answered) == {
            "error": "unknown_action",
            "message": "files has no action 'drop'; its actions are list.",
            "valid_actions": ["list"],
            "help": 'help {tool: "files"}',
        }
