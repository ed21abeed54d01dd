"""Calls that stream their progress, on real servers, behind compression and the middleware of a new project."""

from __future__ import annotations

import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from mcp import Client

from example_project.process import SERVERS, running

pytestmark = pytest.mark.live

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "Content-Encoding": None,
    "X-Accel-Buffering": "no",
    "X-In-Transaction": "False",
}
STREAMS = 100
STEPS = 10


@pytest.fixture(scope="module", params=sorted(SERVERS))
def server(request):
    return request.param


@pytest.fixture(scope="module")
def site(server, tmp_path_factory):
    with running(server, tmp_path_factory.mktemp(server), "tests.live.streams.settings") as address:
        yield address


@pytest.fixture(params=["plain", "awaited"])
def tool(request):
    """The tool whose handlers are plain, and the one whose are async."""
    return request.param


@pytest.fixture
def name():
    return str(uuid4())


class Stream:
    """A call whose progress is asked for; read as it comes."""

    def __init__(self, endpoint, tool, action, *, listens=True, **data):
        address = urlsplit(endpoint)
        name = data.get("name", "1")
        params = {"name": tool, "arguments": {"action": action, "data": data}}
        params["_meta"] = {**META, "progressToken": f"{name} token"} if listens else META
        body = json.dumps({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "gzip" if listens else "identity",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        self._connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        self._connection.request("POST", address.path, body, headers)
        self._socket = self._connection.sock

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self._connection.close()

    @cached_property
    def response(self):
        return self._connection.getresponse()

    def __iter__(self):
        """The messages; comments left out."""
        while line := self.response.readline():
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))

    def drop(self):
        """Go away without a word."""
        self._socket.shutdown(socket.SHUT_RDWR)


def control(endpoint, action, **data):
    """What a call without a stream answers."""
    with Stream(endpoint, "control", action, listens=False, **data) as call:
        answer = json.loads(call.response.read())
    assert not answer["result"]["isError"], answer
    return json.loads(answer["result"]["content"][0]["text"])


def told(message):
    """What a notification says."""
    params = message["params"]
    return params["progressToken"], params["progress"], params.get("total"), params.get("message")


def test_each_step_is_heard_before_the_next_is_taken(endpoint, tool, name):
    with Stream(endpoint, tool, "steps", name=name, steps=3) as stream:
        assert {header: stream.response.headers[header] for header in HEADERS} == HEADERS
        messages = iter(stream)
        for step in (1, 2, 3):
            assert told(next(messages)) == (f"{name} token", step, 3, f"step {step}")
            control(endpoint, "tell", name=f"{name} {step}")
        [answer] = messages
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (name, '{"done":3}')


@pytest.mark.parametrize("size", [0, 1_000_000])  # what the network takes in by itself, and far more
def test_a_client_that_reads_late_gets_everything_in_order(endpoint, tool, name, size):
    with Stream(endpoint, tool, "run", name=name, steps=STEPS, size=size) as stream:
        control(endpoint, "wait", name=f"{name} done")
        assert {header: stream.response.headers[header] for header in HEADERS} == HEADERS
        *notifications, answer = stream
    message = name + "." * size
    assert [told(one) for one in notifications] == [
        (f"{name} token", step, STEPS, message) for step in range(1, STEPS + 1)
    ]
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (name, f'{{"done":"{name}"}}')


def test_a_client_that_leaves_its_stream_gives_the_call_up(endpoint, tool, name):
    with Stream(endpoint, tool, "endless", name=name) as stream:
        assert next(iter(stream))["method"] == "notifications/progress"
        assert {header: stream.response.headers[header] for header in HEADERS} == HEADERS
        stream.drop()
        assert_given_up(endpoint, name)


@pytest.mark.parametrize("server", ["uvicorn"], indirect=True)  # a WSGI server learns of it by writing alone
def test_a_client_that_leaves_before_there_is_a_stream_gives_the_call_up(endpoint, tool, name):
    with Stream(endpoint, tool, "silent", name=name) as stream:
        control(endpoint, "wait", name=f"{name} begun")
        stream.drop()
        assert_given_up(endpoint, name)


def assert_given_up(endpoint, name):
    """The handler was ended and cleaned up, and what it wrote is gone."""
    control(endpoint, "wait", name=f"{name} ended")
    control(endpoint, "wait", name=f"{name} cancelled")
    assert control(endpoint, "fate", name=name) == {"cancelled": 1, "written": False}


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_official_client_hears_progress_in_order(endpoint, tool, name, mode):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total, message))

    arguments = {"action": "run", "data": {"name": name, "steps": 5}}
    async with Client(endpoint, mode=mode, read_timeout_seconds=60) as client:
        result = await client.call_tool(tool, arguments, progress_callback=hear)
    assert json.loads(result.content[0].text) == {"done": name}
    assert heard == [(step, 5, name) for step in range(1, 6)]


def test_nothing_is_left_behind(endpoint, tool, name):
    for number in range(3):
        with Stream(endpoint, tool, "run", name=f"{name} {number}", steps=2) as stream:
            assert len(list(stream)) == 3
        with Stream(endpoint, tool, "endless", name=f"{name} left {number}") as stream:
            next(iter(stream))

    assert control(endpoint, "left") == {"threads": 0, "tasks": 0, "databases": 0}


@pytest.mark.parametrize("server", ["uvicorn"], indirect=True)
def test_a_hundred_streams_at_once_lose_nothing_and_take_no_more_memory_each_time(endpoint, tool, name):
    def client(number):
        with Stream(endpoint, tool, "run", name=f"{name} {number}", steps=STEPS) as stream:
            *notifications, answer = stream
        return [told(one) for one in notifications], answer["result"]["content"][0]["text"]

    wanted = [
        (
            [(f"{name} {number} token", step, STEPS, f"{name} {number}") for step in range(1, STEPS + 1)],
            json.dumps({"done": f"{name} {number}"}, separators=(",", ":")),
        )
        for number in range(STREAMS)
    ]
    kilobytes = []
    with ThreadPoolExecutor(STREAMS) as clients:
        for _ in range(4):
            assert list(clients.map(client, range(STREAMS))) == wanted
            kilobytes.append(control(endpoint, "memory")["kilobytes"])
    assert kilobytes[-1] - kilobytes[1] < 4096
