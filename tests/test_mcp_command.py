"""`manage.py mcp`, as a developer uses it."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError

from django_mcp import Tool, ToolError, Toolset, action, testing, tool
from django_mcp.management.subcommands import common
from tests.factories import UserFactory


class Orders(Tool):
    """Orders of the shop."""

    @action(
        description="Show an order",
        properties={"id": {"type": "integer"}, "paper": {"type": "integer"}},
        required=["id"],
        defaults={"paper": 4},
        notes="Of any age.",
        examples=[{"id": 1}],
        read_only=True,
    )
    def get(self, data, ctx):
        if data["id"] > 9:
            raise ToolError("no such order")
        return {"id": data["id"], "seen_by": ctx.user.get_username()}

    @action(description="Print a label", properties={}, permission=lambda ctx: ctx.user.is_authenticated)
    def label(self, data, ctx):
        return ctx.text("Grüezi") + ctx.image("aW1n", "image/png")


class Loose(Toolset):
    @tool
    def total(self, numbers: list[int]) -> int:
        """Add up."""
        return sum(numbers)


@pytest.fixture(autouse=True)
def served():
    with testing.served(Orders):
        yield


def mcp(*arguments):
    out = io.StringIO()
    call_command("mcp", *arguments, stdout=out, no_color=True)
    return out.getvalue().rstrip("\n")


def test_tools_are_listed_with_what_they_cost():
    rows = json.loads(mcp("list", "--json"))
    assert [(row["tool"], row["actions"]) for row in rows] == [("orders", ["get", "label"]), ("help", [])]
    assert all(row["tokens"] == row["bytes"] // 4 > 0 for row in rows)
    lines = mcp("list").splitlines()
    assert lines[0].split() == ["tool", "bytes", "~tokens", "actions"]
    assert lines[1].split() == ["orders", str(rows[0]["bytes"]), str(rows[0]["tokens"]), "get,", "label"]
    total = sum(row["bytes"] for row in rows)
    assert lines[3] == f"2 tools, {total} bytes, about {total // 4} tokens a list"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_headings_have_colour_and_columns_keep_their_place(monkeypatch):
    monkeypatch.setattr(common, "get_terminal_size", lambda: os.terminal_size((45, 20)))
    actions = {f"number_{number}": {"description": "Count", "properties": {}} for number in range(5)}
    tool = type("Wide", (Tool,), {"__doc__": "Counts.", "actions": actions, "run_action": print})
    shown = Terminal()
    with testing.served(tool):
        size = json.loads(mcp("list", "--json"))[0]["bytes"]
        call_command("mcp", "list", stdout=shown, force_color=True)
    lines = shown.getvalue().splitlines()
    assert lines[0] == "\x1b[36;1mtool  bytes  ~tokens  actions\x1b[0m"
    assert lines[1:4] == [
        f"wide    {size}       {size // 4}  number_0, number_1,",
        "                      number_2, number_3,",
        "                      number_4",
    ]


def test_an_error_has_its_colour():
    shown = Terminal()
    with pytest.raises(SystemExit):
        call_command("mcp", "call", "orders", "get", "--data", '{"id": 10}', stdout=shown, force_color=True)
    assert shown.getvalue() == "\x1b[31;1mOperation failed: no such order\n\x1b[0m"


def test_a_site_without_tools_is_told_where_they_are_looked_for():
    told = "No tool of this site is registered. They are found in the mcp.py of every app in INSTALLED_APPS."
    with testing.served():
        assert mcp("list").splitlines()[-1] == told
        assert [row["tool"] for row in json.loads(mcp("list", "--json"))] == ["help"]
    with testing.served(Orders):
        assert told not in mcp("list")


def test_help_is_shown_for_people():
    with testing.served(Orders, Loose):
        shown = mcp("show").splitlines()
        action = mcp("show", "orders", "get").splitlines()
        whole = mcp("show", "orders").splitlines()
        typed = mcp("show", "loose__total").splitlines()
        hand_written = mcp("show", "help").splitlines()
    assert shown[:6] == [
        "orders",
        "Orders of the shop.",
        "  get: Show an order",
        "",
        "loose__total",
        "Add up.",
    ]
    fields = [
        "Show an order",
        "field  required       values",
        'id     yes            {"type": "integer"}',
        'paper  no, default 4  {"type": "integer"}',
        "notes: Of any age.",
        'examples: [{"id": 1}]',
    ]
    assert action == ["orders get", *fields]
    assert whole == ["orders", "Orders of the shop.", "", "get", *fields]
    assert typed == [
        "loose__total",
        "Add up.",
        "field    required  values",
        'numbers  yes       {"items": {"type": "integer"}, "type": "array"}',
        'output_schema: {"type": "object", "properties": {"result": {"type": "integer"}}, '
        '"required": ["result"]}',
    ]
    assert hand_written[0] == "help"
    assert hand_written[-2:] == [
        'tool    no        {"type": "string", "description": "Name of the tool to explain."}',
        'action  no        {"type": "string", "description": "Name of the action to explain; needs tool."}',
    ]


def test_help_is_shown_as_a_caller_gets_it():
    assert json.loads(mcp("show", "--json"))["tools"][0]["actions"] == ["get: Show an order"]
    assert json.loads(mcp("show", "orders", "get", "--json")) == {
        "tool": "orders",
        "action": "get",
        "description": "Show an order",
        "properties": {"id": {"type": "integer"}, "paper": {"type": "integer"}},
        "required": ["id"],
        "defaults": {"paper": 4},
        "notes": "Of any age.",
        "examples": [{"id": 1}],
    }


@pytest.mark.django_db
def test_help_is_shown_as_a_user_gets_it():
    UserFactory(username="ada")
    assert list(json.loads(mcp("show", "orders", "--user", "ada", "--json"))["actions"]) == ["get", "label"]
    assert mcp("show", "orders", "label", "--user", "ada").splitlines() == ["orders label", "Print a label"]


def test_a_wrong_name_is_told_with_the_right_ones():
    with pytest.raises(CommandError, match=r'"did_you_mean": \{\s+"order": "orders"'):
        mcp("show", "order")


def test_a_tool_is_called_as_a_client_would():
    assert mcp("call", "orders", "get", "--data", '{"id": 3.0}') == '{\n  "id": 3,\n  "seen_by": ""\n}'
    assert json.loads(mcp("call", "orders", "get", "--data", '{"id": 3}', "--json"))["isError"] is False
    assert json.loads(mcp("call", "help"))["tools"][1]["tool"] == "help"


@pytest.mark.django_db
def test_a_tool_is_called_as_a_user():
    UserFactory(username="ada")
    text, image = mcp("call", "orders", "label", "--user", "ada").split("\n", 1)
    assert (text, json.loads(image)) == (
        "Grüezi",
        {"type": "image", "data": "aW1n", "mimeType": "image/png"},
    )


def test_data_may_come_from_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"id": 4}'))
    assert json.loads(mcp("call", "orders", "get", "--data", "-"))["id"] == 4


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["orders", "get", "--data", '{"id": "x"}'], '"error": "invalid_values"'),
        (["orders", "get", "--data", '{"id": 10}'], "Operation failed: no such order"),
        (["orders", "label"], '"error": "unknown_action"'),
    ],
)
def test_an_answer_that_is_an_error_is_shown_and_is_the_exit_code(arguments, shown):
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("mcp", "call", *arguments, stdout=out)
    assert ended.value.code == 1
    assert shown in out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["call", "gone"], "Unknown tool: gone."),
        (["call", "orders", "--data", "{"], "--data is no JSON: "),
        (["call", "orders", "--data", "[1]"], "params.arguments must be an object."),
        (["call", "orders", "get", "--user", "nobody"], "There is no user 'nobody'."),
        (["call", "orders", "get", "--user", "gone"], "The user 'gone' is not active."),
        (["list", "--server", "gone"], "There is no server 'gone'"),
    ],
)
def test_what_cannot_be_done_says_why(arguments, complaint):
    UserFactory(username="gone", is_active=False)
    with pytest.raises(CommandError, match=re.escape(complaint)):
        mcp(*arguments)


def test_a_misconfigured_server_is_told_with_the_way_to_all_of_it():
    with (
        testing.served(type("Broken", (Orders,), {"name": "with space"})),
        pytest.raises(CommandError, match=r"with space: .* \(manage.py mcp check shows everything\)"),
    ):
        mcp("list")


def test_checks_are_run_for_people_and_for_machines(settings):
    settings.DJANGO_MCP = {"MAX_BODY_BYTES": -1}
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("mcp", "check", "--json", stdout=out)
    [found] = json.loads(out.getvalue())
    with pytest.raises(SystemCheckError, match=re.escape(f"({found['id']}) {found['message']}")):
        mcp("check")
    assert ended.value.code == 1
    assert (found["level"], found["object"]) == ("error", None)
    assert found["hint"]

    settings.SILENCED_SYSTEM_CHECKS = [found["id"]]
    assert json.loads(mcp("check", "--json")) == []


def test_what_is_fine_has_no_findings():
    assert json.loads(mcp("check", "--json")) == []
    assert [found["level"] for found in json.loads(mcp("check", "--json", "--deploy"))] == ["warning"]
    assert mcp("check") == "System check identified no issues (0 silenced)."


@pytest.mark.parametrize(
    ("client", "shown"),
    [
        ("claude", "claude mcp add --transport http shop https://shop.example/mcp"),
        (
            "inspector",
            "npx @modelcontextprotocol/inspector --transport http --server-url https://shop.example/mcp",
        ),
    ],
)
def test_a_command_to_paste_is_printed(client, shown):
    assert mcp("client-config", client, "--name", "shop", "--url", "https://shop.example/mcp") == shown


def test_a_server_that_the_client_starts_is_this_one(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/srv/shop/manage.py", "mcp"])
    words = ["/srv/shop/manage.py", "mcp", "--settings", "tests.settings", "stdio"]
    started = {"command": sys.executable, "args": words}
    assert json.loads(mcp("client-config", "claude-desktop")) == {"mcpServers": {"django": started}}
    assert json.loads(mcp("client-config", "cursor", "--stdio")) == {"mcpServers": {"django": started}}
    assert json.loads(mcp("client-config", "vscode", "--stdio")) == {
        "servers": {"django": {"type": "stdio", **started}}
    }
    assert mcp("client-config", "claude", "--stdio", "--user", "ada", "--server", "staff") == (
        f"claude mcp add django-staff -- {sys.executable} {' '.join(words)} --server staff --user ada"
    )


@pytest.mark.parametrize("program", ["/venv/django/__main__.py", "/venv/bin/django-admin"])
def test_a_site_without_manage_py_is_started_as_a_module(monkeypatch, program):
    monkeypatch.setattr(sys, "argv", [program, "mcp"])
    assert mcp("client-config", "inspector", "--stdio") == (
        f"npx @modelcontextprotocol/inspector -- {sys.executable} -m django mcp "
        f"--pythonpath {Path.cwd()} --settings tests.settings stdio"
    )


def test_what_a_shell_would_read_differently_is_quoted(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/srv/my shop/manage.py", "mcp"])
    assert mcp("client-config", "claude", "--stdio", "--name", "my shop") == (
        f"claude mcp add 'my shop' -- {sys.executable} '/srv/my shop/manage.py' mcp --settings tests.settings stdio"
    )


@pytest.mark.parametrize("words", [[], ["list"], ["create", "ada", "--name", "laptop"], ["--json"]])
def test_a_subcommand_whose_app_is_not_installed_says_so(settings, words):
    app = "django_mcp.tokens"
    settings.INSTALLED_APPS = [installed for installed in settings.INSTALLED_APPS if installed != app]
    with pytest.raises(CommandError) as refused:
        mcp("token", *words)
    assert str(refused.value) == f'mcp token needs "{app}" in INSTALLED_APPS.'


def test_the_address_is_that_of_the_server(settings):
    settings.ROOT_URLCONF = "tests.protocol.urls"
    assert json.loads(mcp("client-config", "cursor", "--server", "staff")) == {
        "mcpServers": {"django-staff": {"url": "http://127.0.0.1:8000/staff"}}
    }


def test_a_server_without_an_address_is_told(settings):
    with pytest.raises(CommandError) as refused:
        mcp("client-config", "claude", "--server", "stuff")
    assert str(refused.value) == (
        "No URL of this site leads to the server 'stuff'. Mount django_mcp.urls in urls.py, say where it is by --url, "
        "or let the client start it by --stdio."
    )


def test_a_document_to_paste_is_printed():
    assert json.loads(mcp("client-config", "cursor")) == {
        "mcpServers": {"django": {"url": "http://127.0.0.1:8000/mcp"}}
    }
    assert json.loads(mcp("client-config", "vscode", "--name", "shop")) == {
        "servers": {"shop": {"type": "http", "url": "http://127.0.0.1:8000/mcp"}}
    }
