from __future__ import annotations

import copy

import pytest
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

from django_mcp import AuthenticationFailed, BaseTool, signals, testing
from django_mcp.protocol.jsonrpc import ProtocolError
from django_mcp.server import Server
from django_mcp.transports.http.checks import WireCheck
from django_mcp.transports.http.middleware import DEFAULT
from django_mcp.transports.http.middleware.classify import Classify
from django_mcp.views import MCPView
from tests.wire import ABSENT, META, P, implied, refused, request, result, text

HERE = "tests.transports.http.test_pipeline"
INTERNAL = "Internal error; the server's log has it."


def only_ada(request):
    if request.META.get("HTTP_AUTHORIZATION") != "ada":
        raise AuthenticationFailed


class Recorder(BaseTool):
    """Notes that it ran."""

    name = "recorder"
    input_schema = {"type": "object"}
    ran = []

    def run(self, arguments, ctx):
        self.ran.append(arguments)
        return {}


#: In order: the check, and what takes away its reason to refuse the request below.
ORDER = [
    ("origin", lambda value, headers: headers.update(Origin=ABSENT)),
    ("body", lambda value, headers: headers.update({"Content-Type": "application/json"})),
    ("classify", lambda value, headers: value.update(jsonrpc="2.0")),
    ("auth", lambda value, headers: headers.update(Authorization="ada")),
    ("singleton", lambda value, headers: headers.update({"Mcp-Method": "wrong"})),
    ("fields", lambda value, headers: value["params"]["_meta"].update({f"{P}clientCapabilities": {}})),
    ("binding", lambda value, headers: headers.update({"Mcp-Method": "tools/call"})),
    (
        "version",
        lambda value, headers: (
            value["params"]["_meta"].update({f"{P}protocolVersion": "2026-07-28"}),
            headers.update({"MCP-Protocol-Version": "2026-07-28"}),
        ),
    ),
    ("validate", lambda value, headers: value["params"].update(arguments={})),
    (
        "dispatch",
        lambda value, headers: (
            value["params"].update(name="recorder"),
            headers.update({"Mcp-Name": "recorder"}),
        ),
    ),
]


def wrong_in_every_way():
    value = request("tools/call", {"name": "unknown", "arguments": 5}, meta={f"{P}protocolVersion": "v999"})
    value["jsonrpc"] = "1.0"
    headers = {
        "Origin": "https://evil.example.com",
        "Content-Type": "text/plain",
        "MCP-Protocol-Version": "v999",
        "Mcp-Method": "a,b",
        "Mcp-Name": "unknown",
    }
    return value, headers


def test_the_checks_refuse_in_their_order_and_nothing_runs_after_a_refusal(wire, settings, monkeypatch):
    monkeypatch.setattr(Recorder, "ran", [])
    settings.DJANGO_MCP = {"AUTH": f"{HERE}.only_ada"}
    value, headers = wrong_in_every_way()
    refusers = []
    with testing.served(Recorder):
        for _, heal in ORDER:
            refusers.append(wire.post(value, headers).mark.check)
            heal(value, headers)
        assert Recorder.ran == []
        assert wire.post(value, headers) == result(text("{}"))
    assert refusers == [name for name, _ in ORDER]
    assert Recorder.ran == [{}]


@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_no_other_verb_reaches_a_check(wire, settings, verb):
    settings.DJANGO_MCP = {"WIRE_CHECKS": [f"{HERE}.Refusing"]}

    assert wire.send(verb).mark.check == "view"
    assert wire.send("POST").mark.check == "refusing"


def test_the_order_is_the_documented_one():
    checks = [import_string(path) for path in DEFAULT]

    assert [check.name for check in checks] == [name for name, _ in ORDER[:-1]]


def test_every_check_declares_what_it_may_refuse_for():
    for path in DEFAULT:
        check = import_string(path)
        assert issubclass(check, WireCheck)
        assert (check.sync_capable, check.async_capable) == (True, True)
        assert check.reasons


class Refusing(WireCheck):
    name = "refusing"
    reasons = frozenset({"closed", "busy"})

    def check(self, request):
        raise ProtocolError(503, -32600, "closed", "We are closed.")


class Throttle(WireCheck):
    """Refuses with headers of its own, and awaits in its asynchronous form."""

    name = "throttle"
    reasons = frozenset({"too_many_requests"})
    forms = []

    def check(self, request):
        self.forms.append("check")
        return self._refused(request)

    async def acheck(self, request):
        self.forms.append("acheck")
        return self._refused(request)

    def _refused(self, request):
        error = ProtocolError(429, -32600, "too_many_requests", f"Slow down, {request.mcp.message.method}.")
        return self.refuse(request, error, {"WWW-Authenticate": "Later"})


class Patient(Throttle):
    """Awaits before it leaves the decision to the pure form."""

    async def acheck(self, request):
        self.forms.append("acheck")
        return await WireCheck.acheck(self, request)


class Undeclared(WireCheck):
    name = "undeclared"
    reasons = frozenset({"busy"})

    def check(self, request):
        raise ProtocolError(503, -32600, "closed", "We are closed.")


class Unfinished(WireCheck):
    name = "unfinished"
    reasons = frozenset()


class Answering(WireCheck):
    name = "answering"
    reasons = frozenset()

    def check(self, request):
        return HttpResponse(b'{"own": true}', content_type="application/json")


class LenientClassify(Classify):
    """A subclass stands in for the check it replaces."""

    def check(self, request):
        request.mcp.body = {**request.mcp.body, "jsonrpc": "2.0"}
        super().check(request)


class TestWireChecks:
    """`WIRE_CHECKS`: a site replaces or inserts checks."""

    def test_a_check_of_the_site_refuses_as_those_of_the_package_do(self, wire, settings):
        settings.DJANGO_MCP = {"WIRE_CHECKS": [f"{HERE}.Refusing", *DEFAULT]}

        assert wire.modern("tools/list") == refused(
            "refusing", "closed", 503, -32600, "We are closed.", id=ABSENT
        )

    def test_behind_classification_it_knows_the_message(self, wire, settings, monkeypatch):
        monkeypatch.setattr(Throttle, "forms", [])
        settings.DJANGO_MCP = {"WIRE_CHECKS": [*DEFAULT[:3], f"{HERE}.Throttle", *DEFAULT[3:]]}

        assert wire.modern("tools/list", id="x") == refused(
            "throttle",
            "too_many_requests",
            429,
            -32600,
            "Slow down, tools/list.",
            id="x",
            headers={"WWW-Authenticate": "Later"},
        )
        assert Throttle.forms == ["acheck" if wire.mount == "/amcp" else "check"]

    def test_an_asynchronous_form_may_call_the_synchronous_one(self, wire, settings, monkeypatch):
        monkeypatch.setattr(Throttle, "forms", [])
        settings.DJANGO_MCP = {"WIRE_CHECKS": [*DEFAULT[:3], f"{HERE}.Patient", *DEFAULT[3:]]}

        assert wire.modern("tools/list").mark.reason == "too_many_requests"
        assert Throttle.forms == (["acheck", "check"] if wire.mount == "/amcp" else ["check"])

    def test_a_check_may_answer_by_itself(self, wire, settings):
        settings.DJANGO_MCP = {"WIRE_CHECKS": [f"{HERE}.Answering", *DEFAULT]}

        answer = wire.modern("tools/list")

        assert (answer.status, answer.body, answer.mark) == (200, {"own": True}, None)

    def test_a_check_replaces_one_of_the_package(self, wire, settings):
        lenient = [f"{HERE}.LenientClassify" if path.endswith("Classify") else path for path in DEFAULT]
        settings.DJANGO_MCP = {"WIRE_CHECKS": lenient}
        value = {**request("tools/call", {"name": "echo"}), "jsonrpc": "1.0"}

        assert wire.post(value, implied(value)) == result(text("{}"))

    @pytest.mark.parametrize(
        ("check", "raised"),
        [
            ("Undeclared", "LookupError: undeclared declares no reason 'closed'."),
            ("Unfinished", "NotImplementedError"),
        ],
    )
    def test_a_reason_outside_its_table_is_a_programming_error(self, wire, settings, caplog, check, raised):
        settings.DJANGO_MCP = {"WIRE_CHECKS": [*DEFAULT[:3], f"{HERE}.{check}"]}

        assert wire.modern("tools/list") == refused("dispatch", "internal_error", 200, -32603, INTERNAL)
        assert raised in caplog.text

    def test_a_notification_has_no_id_to_fail_under(self, wire, settings):
        settings.DJANGO_MCP = {"WIRE_CHECKS": [*DEFAULT[:3], f"{HERE}.Unfinished"]}

        answer = wire.post(request("notifications/initialized", id=ABSENT))

        assert answer == refused("dispatch", "internal_error", 200, -32603, INTERNAL, id=ABSENT)


@pytest.fixture
def heard():
    """What `request_rejected` said."""
    fields = []

    def receive(signal, **said):
        fields.append(said)

    signals.request_rejected.connect(receive)
    yield fields
    signals.request_rejected.disconnect(receive)


class TestAnnouncement:
    def test_a_refusal_is_announced_once_by_the_check_that_refused(self, wire, heard):
        wire.modern("tools/list", id="x", meta={**META, f"{P}clientCapabilities": 5})

        assert heard == [
            {
                "sender": import_string(DEFAULT[5]),
                "server": "default",
                "request_id": "x",
                "method": "tools/list",
                "check": "fields",
                "reason": "invalid_fields",
                "status": 400,
                "code": -32602,
            }
        ]

    def test_before_the_message_is_known_there_is_nothing_to_tell_of_it(self, wire, heard):
        wire.send(body=b"{")

        assert heard == [
            {
                "sender": import_string(DEFAULT[1]),
                "server": "default",
                "request_id": None,
                "method": None,
                "check": "body",
                "reason": "parse_error",
                "status": 400,
                "code": -32700,
            }
        ]

    def test_another_verb_is_announced_by_the_view(self, wire, heard):
        wire.send("DELETE")
        wire.send(path=f"{wire.mount}/x")

        assert [(said["sender"], said["reason"], said["status"]) for said in heard] == [
            (MCPView, "method_not_allowed", 405),
            (MCPView, "not_found", 404),
        ]

    def test_a_method_s_refusal_is_announced_by_the_server(self, wire, heard):
        wire.modern("resources/list")

        assert [(said["sender"], said["check"], said["reason"]) for said in heard] == [
            (Server, "dispatch", "method_not_found")
        ]

    def test_a_notification_has_no_id_to_tell(self, wire, heard):
        wire.legacy("notifications/initialized", version="a,b", id=ABSENT)

        assert [(said["request_id"], said["method"]) for said in heard] == [
            (None, "notifications/initialized")
        ]

    def test_an_answer_is_not_announced(self, wire, heard):
        wire.modern("tools/list")
        wire.post(request("notifications/initialized", id=ABSENT))

        assert heard == []

    def test_a_receiver_may_be_async_and_may_raise(self, wire):
        heard = []

        async def receive(**fields):
            heard.append(fields["reason"])
            raise RuntimeError("of the receiver")

        signals.request_rejected.connect(receive)
        try:
            answer = wire.send("GET")
        finally:
            signals.request_rejected.disconnect(receive)

        assert (answer.status, heard) == (405, ["method_not_allowed"])


def test_a_site_s_middleware_reads_the_mark_of_a_refused_request(wire, settings):
    settings.MIDDLEWARE = [f"{HERE}.mark_in_header"]

    assert wire.send("GET").headers == {
        "Allow": "POST",
        "WWW-Authenticate": "view method_not_allowed 405 -32600",
    }


def mark_in_header(get_response):
    def middleware(request):
        response = get_response(request)
        mark = request.mcp_rejection
        response.headers["WWW-Authenticate"] = f"{mark.check} {mark.reason} {mark.status} {mark.code}"
        return response

    return middleware


def test_what_a_site_s_middleware_assigned_reaches_the_tool(wire, settings):
    settings.MIDDLEWARE = [f"{HERE}.assign"]

    with testing.served(Assigned):
        assert wire.modern("tools/call", {"name": "assigned"}) == result(text('{"tenant":"acme"}'))


def assign(get_response):
    def middleware(request):
        request.mcp_assigns = {"tenant": "acme"}
        return get_response(request)

    return middleware


class Assigned(BaseTool):
    """Says what was assigned."""

    name = "assigned"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return copy.copy(ctx.assigns)


def test_neither_headers_nor_user_are_built_unless_a_tool_asks(wire, monkeypatch):
    def fail(request):
        raise AssertionError("was built")

    def accept(request, user):
        """The site's own middleware may offer a user; nobody has to look at it."""

    monkeypatch.setattr(HttpRequest, "headers", property(fail))
    monkeypatch.setattr(HttpRequest, "user", property(fail, accept), raising=False)

    assert wire.modern("tools/call", {"name": "echo"}, headers={"Origin": "http://testserver"}) == result(
        text("{}")
    )
    assert wire.modern("tools/list").status == 200
    assert wire.modern("server/discover").status == 200
