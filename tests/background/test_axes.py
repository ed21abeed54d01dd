"""Background work runs under the axes of the call that submitted it."""

from __future__ import annotations

import sys
import threading
from importlib import import_module

import pytest

from django_mcp import Axis, BaseTool, testing
from django_mcp.background import work
from django_mcp.dispatch import tasks
from django_mcp.policy import axes as known
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
    with testing.served(Where):
        client = Poller(headers={"x-tenant": "acme"})
        task_id = client.submit("where")
        assert tasks.load(task_id).axes == {"background_tenant": "acme"}
        thread = threading.Thread(target=work.perform, args=(task_id,))
        thread.start()
        thread.join(30)
        assert client.result(task_id)["structuredContent"] == {"result": {"tenant": "acme"}}


@pytest.fixture
def elsewhere(in_memory, settings, monkeypatch, tmp_path):
    """An axis in a module that nothing but the settings names; called, the process has imported nothing yet."""
    (tmp_path / "shop_axes.py").write_text(
        'from django_mcp import Axis\nSHOP = Axis("shop", default="none")\ndef by(ctx, params):\n    return "north"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(known, "_axes", known._axes)
    before = known._axes
    axes = {"shop": {"axis": "shop_axes.SHOP", "binder": "shop_axes.by"}}

    def begin_again():
        sys.modules.pop("shop_axes", None)
        known._axes = before
        settings.DJANGO_MCP = {"TASKS": in_memory, "AXES": axes}

    begin_again()
    yield begin_again
    sys.modules.pop("shop_axes", None)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_worker_that_has_imported_no_axis_yet_finds_those_of_the_settings(elsewhere, monkeypatch, is_async):
    class Shop(BaseTool):
        """Says of which shop it is."""

        input_schema = {"type": "object"}
        options = {"background": True}

        def run(self, arguments, ctx):
            return {"shop": import_module("shop_axes").SHOP.current()}

    class AsyncShop(Shop):
        name = "shop"

        async def run(self, arguments, ctx):
            return super().run(arguments, ctx)

    monkeypatch.setattr(type(tasks.runner()), "start", lambda self, task_id: None)
    with testing.served(AsyncShop if is_async else Shop):
        task_id = Poller().submit("shop")
        elsewhere()
        work.perform(task_id)
        assert Poller().result(task_id)["structuredContent"] == {"result": {"shop": "north"}}
