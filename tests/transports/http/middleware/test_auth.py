from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils.functional import SimpleLazyObject

from django_mcp import AuthenticationFailed, BaseTool, signals, testing
from tests.wire import ABSENT, implied, refused, request, result, text

HERE = "tests.transports.http.middleware.test_auth"


class WhoAmI(BaseTool):
    """Says who is calling."""

    name = "whoami"
    input_schema = {"type": "object"}

    def run(self, arguments, ctx):
        return {"user": str(ctx.user), "assigns": ctx.assigns}


def ada(request):
    return User(username="ada")


async def ada_async(request):
    return User(username="ada")


def ada_awaitable(request):
    return ada_async(request)


def ada_lazy(request):
    return SimpleLazyObject(lambda: User(username="ada"))


async def ada_lazy_async(request):
    return SimpleLazyObject(lambda: User(username="ada"))


class AdaClass:
    def authenticate(self, request):
        return User(username="ada")


class AdaAsyncClass:
    async def authenticate(self, request):
        return User(username="ada")


ada_instance = AdaClass()


def by_token(request):
    token = request.META.get("HTTP_AUTHORIZATION")
    if token is None:
        raise AuthenticationFailed
    if token != "Bearer secret":
        raise AuthenticationFailed("The token is unknown.")
    request.mcp_assigns["tenant"] = "acme"
    return User(username="ada")


async def by_token_async(request):
    return by_token(request)


def nobody(request):
    return None


async def nobody_async(request):
    return None


def session(request):
    return AnonymousUser()


def broken(request):
    raise RuntimeError("the secret is 42")


async def broken_async(request):
    raise RuntimeError("the secret is 42")


def broken_lazy(request):
    def load():
        raise RuntimeError("the secret is 42")

    return SimpleLazyObject(load)


class BrokenConstructor:
    def __init__(self):
        raise RuntimeError("the secret is 42")

    def authenticate(self, request):
        return None


OFF_CONTRACT = {
    "true": True,
    "false": False,
    "text": "ada",
    "number": 1,
    "mapping": {"user": "ada"},
    "tuple": ("ada",),
}


def off_contract(request):
    return OFF_CONTRACT[request.META["HTTP_X_RETURN"]]


async def off_contract_async(request):
    return OFF_CONTRACT[request.META["HTTP_X_RETURN"]]


@pytest.fixture
def auth(wire, settings):
    """Call `whoami` under an `AUTH`, with more settings and headers."""

    def call(name, headers=None, send=wire.modern, **more):
        settings.DJANGO_MCP = {"AUTH": f"{HERE}.{name}", **more}
        return send("tools/call", {"name": "whoami"}, headers=headers)

    with testing.served(WhoAmI):
        yield call


@pytest.fixture
def events():
    """What was sent while the test ran: name, sender and fields."""
    sent = []
    receivers = []
    for name in ("auth_rejected", "auth_failed", "request_rejected"):

        def receive(sender, signal, name=name, **fields):
            sent.append((name, sender, fields))

        receivers.append((getattr(signals, name), receive))
    for signal, receiver in receivers:
        signal.connect(receiver)
    yield sent
    for signal, receiver in receivers:
        signal.disconnect(receiver)


def answered(user, **assigns):
    shown = "".join(f'"{key}":"{value}"' for key, value in assigns.items())
    return result(text(f'{{"user":"{user}","assigns":{{{shown}}}}}'))


def challenged(reason, message, challenge="Bearer", id=1):
    return refused("auth", reason, 401, -32600, message, id=id, headers={"WWW-Authenticate": challenge})


def rejected(message="Authentication is required.", challenge="Bearer", **more):
    return challenged("auth_rejected", message, challenge, **more)


FAILED = challenged("auth_failed", "Authentication failed.")


def test_without_auth_everybody_is_anonymous(wire, settings):
    with testing.served(WhoAmI):
        assert wire.modern("tools/call", {"name": "whoami"}) == answered("AnonymousUser")


@pytest.mark.parametrize(
    "name",
    [
        "ada",
        "ada_async",
        "ada_awaitable",
        "ada_lazy",
        "ada_lazy_async",
        "AdaClass",
        "AdaAsyncClass",
        "ada_instance",
    ],
)
def test_an_identity_comes_from_a_function_a_class_or_an_instance_sync_or_async(auth, name):
    assert auth(name) == answered("ada")


@pytest.mark.parametrize("name", ["nobody", "nobody_async", "session"])
def test_none_and_an_anonymous_user_are_accepted_as_anonymous(auth, name):
    assert auth(name) == answered("AnonymousUser")


@pytest.mark.parametrize("name", ["by_token", "by_token_async"])
class TestRefusal:
    def test_what_authentication_assigns_reaches_the_tool(self, auth, name):
        assert auth(name, {"Authorization": "Bearer secret"}) == answered("ada", tenant="acme")

    def test_a_refusal_is_a_challenge(self, auth, name):
        assert auth(name) == rejected()

    def test_its_text_goes_to_the_client(self, auth, name):
        assert auth(name, {"Authorization": "Bearer guess"}) == rejected("The token is unknown.")

    def test_a_legacy_client_is_challenged_alike(self, auth, wire, name):
        assert auth(name, send=wire.legacy) == rejected()

    def test_it_comes_before_every_check_that_tells_of_the_server(self, auth, name):
        headers = {"MCP-Protocol-Version": "a,b", "Mcp-Method": ABSENT, "Mcp-Name": "other"}

        assert auth(name, headers) == rejected()

    def test_a_notification_is_refused_under_no_id(self, auth, wire, settings, name):
        settings.DJANGO_MCP = {"AUTH": f"{HERE}.{name}"}
        value = request("notifications/initialized", id=ABSENT)

        assert wire.post(value) == rejected(id=ABSENT)

    def test_it_is_announced(self, auth, events, name):
        auth(name, {"Authorization": "Bearer guess"})

        about = {"server": "default", "request_id": 1, "method": "tools/call"}
        assert [(event, fields) for event, _, fields in events] == [
            ("auth_rejected", {**about, "auth": f"{HERE}.{name}", "reason": "The token is unknown."}),
            (
                "request_rejected",
                {**about, "check": "auth", "reason": "auth_rejected", "status": 401, "code": -32600},
            ),
        ]
        assert events[0][1] is globals()[name]


@pytest.mark.parametrize("name", ["broken", "broken_async", "broken_lazy", "BrokenConstructor", "missing"])
def test_an_authentication_that_fails_refuses_and_tells_the_client_nothing(auth, name):
    assert auth(name) == FAILED


@pytest.mark.parametrize("name", ["off_contract", "off_contract_async"])
@pytest.mark.parametrize("returned", OFF_CONTRACT)
def test_nobody_gets_in_by_being_truthy(auth, name, returned):
    assert auth(name, {"X-Return": returned}) == FAILED


def test_a_failure_is_announced_with_its_exception(auth, events):
    auth("broken")

    about = {"server": "default", "request_id": 1, "method": "tools/call", "auth": f"{HERE}.broken"}
    name, sender, fields = events[0]
    raised = fields.pop("crash_reason")
    assert (name, sender, fields) == (
        "auth_failed",
        broken,
        {**about, "exception": "RuntimeError", "error": "the secret is 42"},
    )
    assert isinstance(raised, RuntimeError)


def test_the_failure_of_one_that_cannot_be_had_is_announced_by_the_check(auth, events):
    auth("missing")

    assert (events[0][0], events[0][1].__name__, events[0][2]["exception"]) == (
        "auth_failed",
        "Auth",
        "ImportError",
    )


def test_an_off_contract_result_is_announced_by_its_type(auth, events):
    auth("off_contract", {"X-Return": "true"})

    assert (events[0][2]["exception"], events[0][2]["error"]) == (
        "ContractBroken",
        "AUTH must return a user or None, not bool.",
    )


class TestChallenge:
    def test_parameters_are_quoted_and_escaped_in_declared_order(self, auth):
        parameters = {
            "realm": 'The "site" \\ shop',
            "scope": lambda request: f"read {request.path.strip('/a')}",
            "x": "",
        }

        assert auth("by_token", WWW_AUTHENTICATE=parameters) == rejected(
            challenge='Bearer realm="The \\"site\\" \\\\ shop", scope="read mcp", x=""'
        )

    def test_a_failure_is_challenged_with_them_too(self, auth):
        assert auth("broken", WWW_AUTHENTICATE={"realm": "shop"}) == challenged(
            "auth_failed", "Authentication failed.", 'Bearer realm="shop"'
        )

    @pytest.mark.parametrize(
        "value",
        [
            lambda request: 1 / 0,
            lambda request: None,
            lambda request: 5,
            lambda request: "line\r\nSet-Cookie: a=b",
            lambda request: "Zürich",
        ],
    )
    def test_one_that_cannot_be_rendered_leaves_a_bare_challenge(self, auth, caplog, value):
        parameters = {"realm": "shop", "scope": value}

        assert auth("by_token", WWW_AUTHENTICATE=parameters) == rejected()
        assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
            "WWW_AUTHENTICATE could not be rendered; the challenge goes out without parameters."
        ]

    @pytest.mark.django_db
    def test_a_parameter_may_query_the_database(self, auth):
        parameters = {"scope": lambda request: f"users:{User.objects.count()}"}

        assert auth("by_token", WWW_AUTHENTICATE=parameters) == rejected(challenge='Bearer scope="users:0"')


def test_the_body_is_not_authentication_s_to_see_but_its_headers_are(wire, settings):
    value = request("tools/list")
    settings.DJANGO_MCP = {"AUTH": f"{HERE}.by_token"}

    assert wire.post(value, {**implied(value), "Authorization": "Bearer secret"}).status == 200
