"""Background work runs under the axes of the call that submitted it."""

from __future__ import annotations

import threading

import pytest

from django_mcp import Axis, BaseTool, testing
from django_mcp.dispatch import tasks
from tests.background.conftest import Poller

TENANT = Axis("background_tenant", default="public")


def tenant(ctx, params):
    return ctx.headers.get("x-tenant")


class Where(BaseTool):
    """Says under which tenant it runs."""

    input_schema = {"type": "object"}
    options = {"background": True}
    together = threading.Barrier(2)

    def run(self, arguments, ctx):
        self.together.wait(30)
        return {"tenant": TENANT.current()}


@pytest.fixture
def axes(in_memory, settings):
    paths = {"axis": f"{__name__}.TENANT", "binder": f"{__name__}.tenant"}
    settings.DJANGO_MCP = {**settings.DJANGO_MCP, "AXES": {"background_tenant": paths}}


def test_two_jobs_at_once_keep_their_own(axes, monkeypatch):
    monkeypatch.setattr(Where, "together", threading.Barrier(2))
    acme, nobody = Poller(headers={"x-tenant": "acme"}), Poller()
    with testing.served(Where):
        ids = [client.submit("where") for client in (acme, nobody)]
        results = [
            client.result(id)["structuredContent"] for client, id in zip((acme, nobody), ids, strict=True)
        ]
    assert results == [{"result": {"tenant": "acme"}}, {"result": {"tenant": "public"}}]


def test_the_values_travel_with_the_task(axes, monkeypatch):
    """As another process gets them: nothing but what the store keeps."""
    monkeypatch.setattr(type(tasks.runner()), "start", lambda self, task_id: None)
    monkeypatch.setattr(Where, "together", threading.Barrier(1))
    from django_mcp.background import work

    with testing.served(Where):
        client = Poller(headers={"x-tenant": "acme"})
        task_id = client.submit("where")
        assert tasks.load(task_id).axes == {"background_tenant": "acme"}
        thread = threading.Thread(target=work.perform, args=(task_id,))
        thread.start()
        thread.join(30)
        assert client.result(task_id)["structuredContent"] == {"result": {"tenant": "acme"}}
