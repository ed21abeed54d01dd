from __future__ import annotations

import json

import pytest
from django.db import connections
from django.test import Client

from django_mcp import Tool, ToolError, action, signals, testing
from example_project.tracker.models import Project
from tests.wire import ABSENT, Echo, Wire, implied, refused, request, result, text

VERBS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]
NOT_FOUND = refused(
    "view", "not_found", 404, -32601, "There is nothing at this path below the MCP endpoint.", id=ABSENT
)


@pytest.mark.parametrize("slash", ["", "/"])
class TestMount:
    def test_a_post_is_answered(self, wire, slash):
        value = request("tools/call", {"name": "echo"})

        answer = wire.send(path=wire.mount + slash, body=json.dumps(value).encode(), headers=implied(value))

        assert answer == result(text("{}"))

    @pytest.mark.parametrize("verb", VERBS)
    def test_another_verb_is_not_allowed(self, wire, slash, verb):
        expected = refused(
            "view",
            "method_not_allowed",
            405,
            -32600,
            "Send JSON-RPC messages by POST.",
            id=ABSENT,
            headers={"Allow": "POST"},
        )
        if verb == "HEAD":
            expected.body = None

        assert wire.send(verb, wire.mount + slash) == expected

    def test_no_check_runs_for_another_verb(self, wire, slash):
        headers = {"Host": "evil.example.com", "Origin": "https://evil.example.com"}

        assert wire.send("GET", wire.mount + slash, headers=headers).status == 405


@pytest.mark.parametrize("verb", ["POST", *VERBS])
@pytest.mark.parametrize("below", ["/x", "//", "/.well-known/oauth-protected-resource"])
def test_nothing_is_below_the_mount(wire, verb, below):
    answer = wire.send(verb, wire.mount + below)

    if verb == "HEAD":
        assert (answer.status, answer.mark) == (NOT_FOUND.status, NOT_FOUND.mark)
    else:
        assert answer == NOT_FOUND


def test_what_only_begins_like_the_mount_is_the_site_s(wire):
    assert Client().post(f"{wire.mount}x").headers["Content-Type"].startswith("text/html")


def test_a_site_under_a_prefix_is_served(wire, settings):
    settings.FORCE_SCRIPT_NAME = "/site"
    value = request("tools/call", {"name": "echo"})
    # WSGI hands the prefix over apart from the path, ASGI with it.
    path = wire.mount if type(wire._client) is Client else f"/site{wire.mount}"

    assert wire.send(path=path, body=json.dumps(value).encode(), headers=implied(value)) == result(text("{}"))


@pytest.mark.parametrize("mount", ["/mcp", "/amcp"])
def test_neither_a_csrf_token_nor_a_login_is_asked_for(settings, mount):
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.auth.middleware.LoginRequiredMiddleware",
    ]
    wire = Wire(Client(enforce_csrf_checks=True), mount)

    with testing.served(Echo):
        assert wire.modern("tools/call", {"name": "echo"}) == result(text("{}"))
        assert wire.send("GET").status == 405
        assert wire.send(path=f"{mount}/x") == NOT_FOUND


class TestServers:
    """`SERVERS`: each mount names the one it serves."""

    pytestmark = pytest.mark.urls("tests.transports.http.urls")

    @pytest.fixture(autouse=True)
    def servers(self, settings):
        settings.DJANGO_MCP = {"SERVERS": {"staff": {"INSTRUCTIONS": "Staff only."}}}

    @pytest.mark.parametrize("prefix", ["", "/view"])
    def test_the_named_server_answers(self, wire, prefix):
        wire.mount = prefix + wire.mount

        assert wire.modern("server/discover").body["result"]["instructions"] == "Staff only."

    @pytest.mark.parametrize(("verb", "below"), [("GET", ""), ("POST", "/x")])
    def test_refusals_name_it(self, wire, verb, below):
        heard = []
        with listening(heard):
            wire.send(verb, wire.mount + below)

        assert [fields["server"] for fields in heard] == ["staff"]

    def test_one_that_does_not_exist_is_an_internal_error(self, wire):
        wire.mount = f"/unknown{wire.mount}"

        message = "Internal error; the server's log has it."
        assert wire.modern("server/discover") == refused(
            "dispatch", "internal_error", 200, -32603, message, id=ABSENT
        )


class listening:
    """Collect the fields of every `request_rejected`, the sender among them."""

    def __init__(self, heard):
        self._heard = heard

    def __enter__(self):
        signals.request_rejected.connect(self)

    def __exit__(self, *raised):
        signals.request_rejected.disconnect(self)

    def __call__(self, signal, **fields):
        self._heard.append(fields)


class Writer(Tool):
    """Writes to both databases."""

    name = "writer"

    def _write(self):
        for alias in connections:
            Project.objects.using(alias).create(name=f"written to {alias}")

    @action(description="Write", properties={})
    def write(self, data, ctx):
        self._write()
        return {}

    @action(description="Write, then refuse", properties={})
    def refuse(self, data, ctx):
        self._write()
        raise ToolError("no")

    @action(description="Write, then crash", properties={})
    def crash(self, data, ctx):
        self._write()
        raise RuntimeError

    @action(description="Write, then answer what cannot be encoded", properties={})
    def garble(self, data, ctx):
        self._write()
        return object()


@pytest.mark.django_db(databases=["default", "other"], transaction=True)
class TestAtomicRequests:
    """`ATOMIC_REQUESTS` on two databases: with either view a failed answer leaves nothing behind."""

    @pytest.fixture(autouse=True)
    def atomic(self, monkeypatch):
        for alias in connections:
            monkeypatch.setitem(connections.settings[alias], "ATOMIC_REQUESTS", True)

    @pytest.fixture
    def run(self, wire):
        def call(action):
            with testing.served(Writer):
                answer = wire.modern("tools/call", {"name": "writer", "arguments": {"action": action}})
            return answer.body["result"]["isError"], written()

        return call

    def test_an_answer_keeps_what_was_written(self, run):
        assert run("write") == (False, {"default": 1, "other": 1})

    @pytest.mark.parametrize("action", ["refuse", "crash", "garble"])
    def test_a_failure_leaves_nothing_behind(self, run, action):
        assert run(action) == (True, {"default": 0, "other": 0})

    def test_nothing_else_opens_a_transaction(self, wire, django_assert_num_queries):
        with django_assert_num_queries(0), django_assert_num_queries(0, connection=connections["other"]):
            wire.modern("server/discover")
            wire.send("GET")
            wire.send(path=f"{wire.mount}/x")


def written():
    return {alias: Project.objects.using(alias).count() for alias in connections}
