"""Clients of the whole endpoint, in every revision."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from django_mcp import BaseTool, testing
from tests.asking import NAME, form
from tests.testing.shop import SHOP
from tests.wire import LEGACY, MODERN, SERVED


class Sync:
    """An AsyncClient whose methods are waited for."""

    def __init__(self, client: testing.AsyncClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return async_to_sync(getattr(self._client, name))


@pytest.fixture(params=["Client", "AsyncClient"])
def connect(request):
    """Make a client."""

    def make(*args, **options):
        client = getattr(testing, request.param)(*args, **options)
        return client if request.param == "Client" else Sync(client)

    with testing.served(*SHOP):
        yield make


def test_a_modern_client_discovers(connect):
    assert connect().discover()["supportedVersions"] == SERVED


@pytest.mark.parametrize("version", LEGACY)
def test_a_legacy_client_initializes(connect, version):
    assert connect(version=version).initialize()["protocolVersion"] == version


def test_a_client_of_a_revision_that_is_not_served_fails(connect, settings):
    settings.DJANGO_MCP = {"LEGACY_VERSIONS": ["2025-11-25"]}

    with pytest.raises(AssertionError, match=r"does not serve 2025-03-26: .*2025-11-25"):
        connect(version="2025-03-26").list_tools()
    with pytest.raises(testing.JSONRPCError) as raised:
        connect(version="2099-01-01").list_tools()
    assert raised.value.code == -32022


@pytest.mark.parametrize("version", SERVED)
def test_tools_are_listed(connect, version):
    names = [tool["name"] for tool in connect(version=version).list_tools()]

    assert names == ["orders", "labels", "measured", "mirrored", "interview", "help"]


@pytest.mark.parametrize("version", SERVED)
def test_tools_are_called(connect, version):
    client = connect(version=version)

    by_action = client.call("orders", action="afind", data={"number": "A1"})
    by_arguments = client.call("mirrored", {"region": "ü", "count": 1})

    assert testing.json(by_action) == {"number": "A1", "version": version}
    assert testing.json(by_arguments) == {"region": "ü", "count": 1}


@pytest.mark.parametrize("version", SERVED)
def test_help_is_read(connect, version):
    client = connect(version=version)

    assert client.help()["tools"][0]["tool"] == "orders"
    assert client.help("orders")["actions"].keys() == {"find", "afind"}
    assert client.help("orders", "find")["required"] == ["number"]


def test_any_request_may_be_sent(connect):
    assert connect(version="2025-11-25").send("ping") == {}
    with pytest.raises(testing.JSONRPCError) as raised:
        connect().send("ping")
    assert (raised.value.status, raised.value.code) == (404, -32601)


@pytest.mark.parametrize("endpoint", ["/mcp", "/mcp/", "/amcp"])
def test_the_endpoint_may_be_named(connect, endpoint):
    assert connect(endpoint).discover()["resultType"] == "complete"


@pytest.mark.urls("tests.testing.urls")
@pytest.mark.parametrize("endpoint", ["/staff", "/view"])
def test_headers_are_those_of_the_endpoint_s_server(connect, settings, endpoint):
    settings.DJANGO_MCP = {"EXCLUDE": ["mirrored"], "SERVERS": {"staff": {"EXCLUDE": []}}}

    assert testing.json(connect(endpoint).call("mirrored", {"region": "ü"})) == {"region": "ü"}


class Echo(BaseTool):
    """Says what came along."""

    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return {
            "header": ctx.headers.get("X-Tenant"),
            "meta": ctx.meta.get("k"),
            "id": ctx.request_id,
            "capabilities": ctx.capabilities,
        }


def test_headers_and_meta_go_along(connect):
    client = connect(headers={"X-Tenant": "acme"})
    with testing.served(Echo):
        said = [
            testing.json(client.call("echo")),
            testing.json(client.call("echo", meta={"k": 1}, headers={"X-Tenant": "other"})),
        ]

    assert said == [
        {"header": "acme", "meta": None, "id": 1, "capabilities": {}},
        {"header": "other", "meta": 1, "id": 2, "capabilities": {}},
    ]


def user(request):
    return request.user if request.user.is_authenticated else None


@pytest.mark.django_db(transaction=True)
def test_a_user_may_be_logged_in(connect, settings):
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ]
    settings.DJANGO_MCP = {"AUTH": f"{__name__}.user"}
    client = connect()
    ada = User.objects.create_user("ada", is_staff=True)
    login = client.aforce_login if isinstance(client, Sync) else client.force_login
    login(ada)

    found = client.call("orders", action="find", data={"number": "A1"})

    assert testing.json(found) == {"number": "A1", "for": "ada"}
    assert "close" in client.help("orders")["actions"]


class TestQuestions:
    ANSWERS = {"who": {"name": "Ada"}, "age": {"age": 36}}

    def test_are_answered(self, connect):
        assert testing.json(connect().call("interview", answers=self.ANSWERS)) == {"name": "Ada", "age": 36}

    def test_without_answers_are_the_result(self, connect):
        asking = connect(capabilities={"elicitation": {}}).call("interview")

        assert asking["inputRequests"] == {"who": form("Who are you?", NAME)}

    @pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
    def test_go_to_clients_that_ask(self, connect, capabilities):
        answer = connect(capabilities=capabilities).call("interview", answers=self.ANSWERS)

        assert "elicitation.form" in testing.error_text(answer)

    @pytest.mark.parametrize("version", LEGACY)
    def test_go_to_no_client_of_an_earlier_revision(self, connect, version):
        answer = connect(version=version).call("interview", answers=self.ANSWERS)

        assert "elicitation.form" in testing.error_text(answer)

    def test_may_be_pages_and_requests_that_are_no_questions(self, connect):
        class Connects(BaseTool):
            """Opens a page, then asks for the roots."""

            input_schema = {"type": "object"}

            def run(self, arguments, ctx):
                said = ctx.elicit_url("Connect.", "https://shop.example.com/connect", key="page")
                return {"said": said.action, **ctx.request_input({"roots": {"method": "roots/list"}})}

        client = connect(capabilities={"elicitation": {"url": {}}, "roots": {}})
        with testing.served(Connects):
            answer = client.call("connects", answers={"page": "accept", "roots": {"roots": []}})

        assert testing.json(answer) == {"said": "accept", "roots": {"roots": []}}


def test_a_client_speaks_the_newest_revision_by_default():
    assert testing.Client().version == MODERN
