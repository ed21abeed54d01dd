"""Background work that is destructive: its user consents, and its tenant is found, before there is a task."""

from __future__ import annotations

import pytest

from django_mcp import Axis, Tool, action, testing
from django_mcp.dispatch import tasks
from tests.asking import FORMS, INVALID_STATE, asked, form
from tests.dispatch.test_consent import ACCEPT, DECLINED, EMPTY
from tests.wire import META, P

pytestmark = [pytest.mark.usefixtures("in_memory"), pytest.mark.django_db]

TENANT = Axis("consented_tenant", default="none")
CAPABILITIES = {"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
NATIVE = {**META, f"{P}clientCapabilities": CAPABILITIES}
WIPES = {"properties": {"disk": {"type": "string"}}, "background": True, "destructive": True}


class Disks(Tool):
    """Disks."""

    #: How often the binder was asked, and what was wiped for whom.
    bound = 0
    wiped: list = []

    @action(description="Wipe one", **WIPES)
    def wipe(self, data, ctx):
        self.wiped.append((data["disk"], TENANT.current()))
        return {}

    @action(description="Wipe one", **WIPES)
    async def awipe(self, data, ctx):
        self.wiped.append((data["disk"], TENANT.current()))
        return {}


def by_header(ctx, params):
    Disks.bound += 1
    if "X-Broken" in ctx.headers:
        raise ValueError("broken")
    return ctx.headers["X-Tenant"]


@pytest.fixture(params=["wipe", "awipe"])
def name(request):
    return request.param


@pytest.fixture(params=[FORMS, NATIVE], ids=["polling", "native"])
def call(request, wire, settings, monkeypatch, name):
    """Call the action for the tenant acme."""
    binders = {"consented_tenant": {"axis": f"{__name__}.TENANT", "binder": f"{__name__}.by_header"}}
    settings.DJANGO_MCP = {**settings.DJANGO_MCP, "CONFIRM_DESTRUCTIVE": True, "AXES": binders}
    monkeypatch.setattr(Disks, "bound", 0)
    monkeypatch.setattr(Disks, "wiped", [])

    def call(disk="sda", headers=None, **params):
        params |= {"name": "disks", "arguments": {"action": name, "data": {"disk": disk}}}
        headers = {"X-Tenant": "acme", **(headers or {})}
        return wire.modern("tools/call", params, meta=request.param, headers=headers)

    with testing.served(Disks):
        yield call


def done():
    """How often the binder was asked, what was wiped for whom, and the ids of all tasks."""
    return Disks.bound, Disks.wiped, [*tasks.store()._records]


def test_a_consent_makes_one_task_for_the_tenant_of_its_call(call, name):
    requests, state = asked(call())
    message = f'disks: {name} is destructive. It would run with {{"disk":"sda"}}. Go on?'
    assert requests == {"confirm": form(message, EMPTY)}
    assert done() == (0, [], [])

    receipt = call(requestState=state, inputResponses=ACCEPT).body["result"]
    task_id = receipt["taskId"] if "taskId" in receipt else receipt["structuredContent"]["task_id"]
    tasks.runner().join(task_id, 30)
    assert call(requestState=state, inputResponses=ACCEPT) == INVALID_STATE
    assert done() == (1, [("sda", "acme")], [task_id])
    assert tasks.load(task_id).status == "completed"


@pytest.mark.parametrize("answer", ["decline", "cancel"])
def test_without_one_there_is_no_task_and_no_binder_is_asked(call, answer):
    _, state = asked(call())

    assert call(requestState=state, inputResponses={"confirm": {"action": answer}}) == DECLINED
    assert done() == (0, [], [])


def test_nobody_is_asked_about_wrong_arguments(call):
    refused = call(disk=7).body["result"]

    assert testing.error_json(refused)["error"] == "invalid_values"
    assert done() == (0, [], [])


def test_a_binder_that_fails_makes_no_task(call):
    _, state = asked(call())
    failed = call(requestState=state, inputResponses=ACCEPT, headers={"X-Broken": "yes"}).body["result"]

    assert testing.error_json(failed)["exception"] == "ValueError"
    assert done() == (1, [], [])
