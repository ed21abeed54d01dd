"""The official client starts the example site by its configuration and talks to it over standard streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from example_project.process import ROOT, manage

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Of a site that is migrated and seeded, on a database of its own."""
    folder = tmp_path_factory.mktemp("stdio")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.live.stdio.settings",
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}?transaction_mode=IMMEDIATE",
        "DEBUG": "off",
        "LC_ALL": "C",
    }
    for command in ("migrate --verbosity 0", "seed"):
        manage(command, environment)
    return environment


@pytest.fixture
def configured(environment):
    """What a client starts, by the configuration that is printed for Claude Desktop."""
    printed = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "mcp", "client-config", "claude-desktop"],
        # This site prints nothing of its own beside the configuration.
        env={**environment, "DJANGO_SETTINGS_MODULE": "tests.live.settings"},
        capture_output=True,
        check=True,
    )
    return json.loads(printed.stdout)["mcpServers"]["django"]


@pytest.fixture
def server(configured, environment, tmp_path):
    return StdioServerParameters(
        command=configured["command"],
        args=configured["args"],
        env={**configured["env"], **environment},
        cwd=tmp_path,
    )


@pytest.mark.parametrize("mode", ["auto", "2026-07-28", "legacy"])
async def test_a_client_lists_calls_and_hears_progress(server, mode):
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total, message))

    async with Client(stdio_client(server), mode=mode, read_timeout_seconds=60) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        answer = await client.call_tool("chatty__count", {"to": 3}, progress_callback=hear)
    assert "chatty__count" in tools
    assert answer.structured_content == {"result": "zählt bis 3"}
    assert [one[0] for one in heard] == sorted(one[0] for one in heard)
    assert heard[-1] == (3, 3, None)


def start(server):
    return subprocess.Popen(
        [server.command, *server.args],
        env=server.env,
        cwd=server.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ask(process, method, **params):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    line = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    process.stdin.write(json.dumps(line).encode() + b"\n")
    process.stdin.flush()


def test_only_messages_are_on_standard_output(server):
    with start(server) as process:
        ask(process, "tools/call", name="chatty__count", arguments={"to": 1})
        answer = json.loads(process.stdout.readline())
        output, errors = process.communicate(timeout=60)
    assert answer["result"]["structuredContent"] == {"result": "zählt bis 1"}
    assert (output, process.returncode) == (b"", 0)
    assert b"printed at import" in errors
    assert b"printed by a handler" in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_ended_from_outside_cleans_up(server, number):
    with start(server) as process:
        ask(process, "tools/call", name="chatty__wait", arguments={})
        assert b"waiting" in b"".join(iter(lambda: process.stderr.readline(), b"waiting\n")) + b"waiting"
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    assert (output, process.returncode) == (b"", 0)
    assert b"cleaned up" in errors
