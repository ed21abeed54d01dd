"""The official client against real servers, in each way it can begin a conversation."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from uuid import uuid4

import anyio
import pytest
from mcp import Client, MCPError

pytestmark = pytest.mark.live

#: How the client begins, and the revision it ends up with.
MODES = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def connected(endpoint, mode):
    return Client(endpoint, mode=mode, read_timeout_seconds=60)


def parsed(result):
    return result.is_error, json.loads(result.content[0].text)


def unique():
    """A title no other test uses: all of them share one database."""
    return f"Task {uuid4()}"


async def titles(client):
    """Titles of every task of the project the tests write to."""
    found, page = [], 1
    while True:
        data = {"project": "Website", "page": page, "page_size": 50}
        _, answer = parsed(await client.call_tool("tasks", {"action": "list", "data": data}))
        found += [task["title"] for task in answer["tasks"]]
        if page == answer["pages"]:
            return found
        page += 1


async def test_the_client_agrees_on_a_revision(connected, mode):
    async with connected as client:
        assert client.protocol_version == MODES[mode]


async def test_tools_are_listed(connected):
    async with connected as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["tasks", "tracker__workload", "help", "task_status", "task_result", "task_cancel"]


async def test_a_refused_call_is_corrected_by_its_answer(connected):
    title = unique()
    async with connected as client:
        arguments = {"action": "create", "data": {"project": "Website", "title": title, "deu": "2999-01-31"}}
        is_error, refusal = parsed(await client.call_tool("tasks", arguments))
        assert (is_error, refusal["error"], refusal["did_you_mean"]) == (
            True,
            "unknown_params",
            {"deu": "due"},
        )

        arguments["data"]["due"] = arguments["data"].pop("deu")
        is_error, answer = parsed(await client.call_tool("tasks", arguments))
        assert (is_error, answer["task"]["title"], answer["task"]["due"]) == (False, title, "2999-01-31")

        hint = answer["hints"][0]
        is_error, seen = parsed(
            await client.call_tool(hint["tool"], {"action": hint["action"], **hint["example"]})
        )
        assert (is_error, seen["task"]) == (False, answer["task"])


async def test_a_call_that_fails_half_way_leaves_no_write_behind(connected):
    title = unique()
    items = [{"project": "Website", "title": title}, {"project": "Website", "title": title}]
    async with connected as client:
        result = await client.call_tool("tasks", {"action": "import_many", "data": {"items": items}})

        assert result.is_error is True
        assert result.content[0].text.startswith(
            f"Operation failed: items[1]: Website already has the task '{title}'"
        )
        assert title not in await titles(client)


async def test_calls_at_once_are_all_answered(connected):
    wanted = sorted(unique() for _ in range(8))
    async with connected as client:

        async def create(title):
            data = {"project": "Website", "title": title}
            is_error, answer = parsed(await client.call_tool("tasks", {"action": "create", "data": data}))
            assert (is_error, answer["task"]["title"]) == (False, title)

        async with anyio.create_task_group() as group:
            for title in wanted:
                group.start_soon(create, title)

        assert sorted(set(wanted) & set(await titles(client))) == wanted


async def test_an_unknown_tool_is_a_protocol_error(connected):
    async with connected as client:
        with pytest.raises(MCPError, match="taks") as raised:
            await client.call_tool("taks", {})
        assert raised.value.code == -32602


@pytest.mark.parametrize("slash", ["", "/"])
def test_other_verbs_are_refused_without_a_redirect(endpoint, slash):
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(endpoint + slash)

    with raised.value as response:
        assert (response.status, response.headers["Allow"]) == (405, "POST")
