"""The official client starts the example site by its configuration and talks to it over standard streams."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from example_project.process import ROOT, manage
from tests.node.packages import NODE, node

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Of a site that is migrated and seeded, on a database of its own."""
    folder = tmp_path_factory.mktemp("stdio")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.live.stdio.settings",
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}?transaction_mode=IMMEDIATE",
        "SECRET_KEY": secrets.token_urlsafe(),
        "DEBUG": "off",
        "LC_ALL": "C",
    }
    for command in ("migrate --verbosity 0", "seed"):
        manage(command, environment)
    return environment


def configuration(environment, client, *program, cwd=None):
    """What is printed for a client, by a site that prints nothing of its own beside."""
    return subprocess.run(
        [sys.executable, *program, "mcp", "client-config", client, "--stdio"],
        env={**environment, "DJANGO_SETTINGS_MODULE": "tests.live.settings"},
        cwd=cwd,
        capture_output=True,
        check=True,
        text=True,
    ).stdout


@pytest.fixture
def server(environment, tmp_path):
    """What a client starts by the configuration for Claude Desktop, from a folder of its own."""
    printed = json.loads(configuration(environment, "claude-desktop", str(ROOT / "manage.py")))
    entry = printed["mcpServers"]["django"]
    # The same site with an app that prints where it should not.
    words = [word.replace("tests.live.settings", "tests.live.stdio.settings") for word in entry["args"]]
    return StdioServerParameters(command=entry["command"], args=words, env=environment, cwd=tmp_path)


@pytest.mark.parametrize(
    ("client", "program"),
    [
        ("claude", [str(ROOT / "manage.py")]),
        ("claude", ["-m", "django"]),
        ("claude-desktop", [str(ROOT / "manage.py")]),
        ("cursor", [str(ROOT / "manage.py")]),
        ("vscode", ["-m", "django"]),
    ],
)
def test_a_configuration_starts_the_server_as_it_is_printed(environment, tmp_path, client, program):
    """By a client that hands on nothing of the environment and is somewhere else."""
    printed = configuration(environment, client, *program, cwd=ROOT)
    if client == "claude":
        command = shlex.split(printed.partition(" -- ")[2])
    else:
        [servers] = json.loads(printed).values()
        command = [servers["django"]["command"], *servers["django"]["args"]]
    bare = {key: environment[key] for key in ("DATABASE_URL", "SECRET_KEY")}
    lines = json.dumps(message("server/discover")) + "\n"
    done = subprocess.run(
        command, input=lines.encode(), env=bare, cwd=tmp_path, capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["result"]["supportedVersions"][0] == "2026-07-28"


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


@pytest.mark.parametrize("mode", ["auto", "legacy", "sdk"])
def test_a_typescript_client_starts_what_is_configured(environment, tmp_path, mode):
    """The 2.x client in each era, and the 1.x SDK that desktop clients are made with."""
    printed = json.loads(configuration(environment, "claude-desktop", str(ROOT / "manage.py")))
    entry = {**printed["mcpServers"]["django"], "cwd": str(tmp_path)}
    run = subprocess.run(
        [node(), "stdio.mjs", json.dumps(entry), mode],
        env=environment,
        cwd=NODE,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.stdout.strip(), run.stderr, run.returncode) == (f"{mode}: ok", "", 0)


async def test_a_client_that_gives_a_call_up_hears_no_more_of_it(server):
    async with Client(stdio_client(server), mode="auto", read_timeout_seconds=60) as client:
        with anyio.move_on_after(0.5):
            await client.call_tool("chatty__wait", {})
        answer = await client.call_tool("chatty__count", {"to": 1})
    assert answer.structured_content == {"result": "zählt bis 1"}


async def test_many_calls_at_once(server):
    answers = {}

    async def count(client, to):
        answers[to] = (await client.call_tool("chatty__count", {"to": to})).structured_content["result"]

    async with (
        Client(stdio_client(server), mode="auto", read_timeout_seconds=60) as client,
        anyio.create_task_group() as group,
    ):
        for to in range(50):
            group.start_soon(count, client, to)
    assert answers == {to: f"zählt bis {to}" for to in range(50)}


def message(method, id=1, **params):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": meta}}


def start(server):
    return subprocess.Popen(
        [server.command, *server.args],
        env=server.env,
        cwd=server.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def say(process, line):
    process.stdin.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
    process.stdin.flush()


def hear(process, line):
    """Read its log until this line."""
    while (heard := process.stderr.readline()) != line + b"\n":
        assert heard, "it ended"


def test_only_messages_are_on_standard_output(server):
    with start(server) as process:
        say(process, message("tools/call", name="chatty__count", arguments={"to": 1}))
        answer = json.loads(process.stdout.readline())
        output, errors = process.communicate(timeout=60)
    assert answer["result"]["structuredContent"] == {"result": "zählt bis 1"}
    assert (output, process.returncode) == (b"", 0)
    for place in (
        b"printed by a model's module",
        b"printed at import",
        b"printed by a handler",
        b"from a child",
    ):
        assert place in errors


def test_what_is_no_message_does_not_end_the_conversation(server):
    said = [b"hello", b'{"jsonrpc":"2.0","method":"\xe4"}', b"[]", b"", b"x" * (4 * 1024 * 1024 + 1)]
    with start(server) as process:
        for line in (*said, message("server/discover")):
            say(process, line)
        output, _ = process.communicate(timeout=60)
    answers = [json.loads(line) for line in output.splitlines()]
    assert [answer.get("error", {}).get("code") for answer in answers] == [
        -32700,
        -32700,
        -32600,
        -32600,
        None,
    ]
    assert [answer.get("id") for answer in answers] == [None, None, None, None, 1]
    assert process.returncode == 0


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT])
def test_at_its_end_a_server_gives_up_what_runs(server, number):
    with start(server) as process:
        say(process, message("tools/call", name="chatty__wait", arguments={}))
        hear(process, b"waiting")
        if number is not None:
            process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    assert (output, process.returncode) == (b"", 0)
    assert b"cleaned up" in errors
    assert b"Traceback" not in errors


def test_a_handler_that_never_ends_does_not_keep_the_process(server):
    """A client closes the input, waits a little, and terminates what is still there."""
    with start(server) as process:
        say(process, message("tools/call", name="chatty__hang", arguments={}))
        hear(process, b"hanging")
        process.stdin.close()
        hear(process, b"given up")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        assert (process.stdout.read(), b"Traceback" in process.stderr.read()) == (b"", False)


def test_nor_does_it_keep_background_work_from_cleaning_up(server):
    with start(server) as process:
        say(process, message("tools/call", name="chatty__work", arguments={}))
        hear(process, b"waiting")
        say(process, message("tools/call", id=2, name="chatty__hang", arguments={}))
        hear(process, b"hanging")
        process.stdin.close()
        hear(process, b"cleaned up")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        assert b"Traceback" not in process.stderr.read()


def test_a_client_that_is_gone_leaves_nothing_behind(server):
    with start(server) as process:
        say(process, message("tools/call", name="chatty__wait", arguments={}))
        hear(process, b"waiting")
        process.stdout.close()
        say(process, message("server/discover", id=2))
        hear(process, b"cleaned up")
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--user", "nobody"], "There is no user 'nobody'."),
        (["--tag", "gone"], "TAGS names gone"),
        (["--server", "gone"], "There is no server 'gone'"),
    ],
)
def test_a_server_that_cannot_start_says_why_where_its_log_is(server, arguments, complaint):
    done = subprocess.run(
        [server.command, *server.args, *arguments],
        env=server.env,
        cwd=server.cwd,
        input=b"",
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert complaint in done.stderr.decode()
