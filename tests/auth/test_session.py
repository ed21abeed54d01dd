"""SessionAuth: the session of a browser, and never of another site's page."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.middleware.csrf import get_token
from django.test import RequestFactory

from django_mcp import AuthenticationFailed, BaseTool, conf, testing
from django_mcp.auth.session import SessionAuth
from tests.factories import UserFactory
from tests.wire import WIRES, Wire, refused, result, text

AUTH = "django_mcp.auth.session.SessionAuth"
AUTHENTICATION = "django.contrib.auth.middleware.AuthenticationMiddleware"
ORIGIN = "http://testserver"


def request(user="ada", *, origin=ORIGIN, token=True, cookie=True):
    """A POST of a page of this site, as it is when the authentication sees it."""
    factory = RequestFactory(enforce_csrf_checks=True)
    secret = factory.get("/")
    csrf = get_token(secret)
    post = factory.post("/mcp", data=b"{}", content_type="application/json")
    if cookie:
        post.COOKIES["csrftoken"] = secret.META["CSRF_COOKIE"]
    if origin is not None:
        post.META["HTTP_ORIGIN"] = origin
    if token:
        post.META["HTTP_X_CSRFTOKEN"] = csrf
    if user is not None:
        post.user = User(username=user)
    return post


def test_the_user_of_the_session_calls():
    assert SessionAuth().authenticate(request()).username == "ada"


@pytest.mark.parametrize("user", [None, "anonymous"])
def test_who_is_not_logged_in_is_refused(user):
    sent = request(None)
    if user is not None:
        sent.user = AnonymousUser()
    with pytest.raises(AuthenticationFailed, match=r"Log in to this site first."):
        SessionAuth().authenticate(sent)


def test_a_request_without_origin_is_refused():
    with pytest.raises(AuthenticationFailed, match=r"A session needs the Origin header beside it."):
        SessionAuth().authenticate(request(origin=None))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"origin": "https://evil.example"}, "Origin checking failed"),
        ({"cookie": False}, "CSRF cookie not set."),
        ({"token": False}, "CSRF token missing."),
    ],
)
def test_what_another_sites_page_could_send_is_refused(options, reason):
    with pytest.raises(AuthenticationFailed, match=reason):
        SessionAuth().authenticate(request(**options))


def test_a_wildcard_does_not_go_with_sessions(settings):
    settings.MIDDLEWARE = [AUTHENTICATION]
    settings.DJANGO_MCP = {"AUTH": AUTH, "ALLOWED_ORIGINS": ["*"]}
    assert [offence.rule for offence in conf.offences()] == ["setting-cookies-any-origin"]


def test_a_site_without_djangos_middleware_is_told(settings):
    settings.DJANGO_MCP = {"AUTH": AUTH}
    assert [offence.message for offence in conf.offences()] == [
        f"Server default: AUTH is '{AUTH}', which needs '{AUTHENTICATION}' in MIDDLEWARE."
    ]


class WhoAmI(BaseTool):
    """Says who is calling."""

    name = "whoami"
    input_schema = {"type": "object", "properties": {}}

    def run(self, arguments, ctx):
        return {"user": ctx.user.get_username()}


@pytest.mark.django_db
def test_a_page_of_the_site_calls_as_its_user_and_another_sites_does_not(settings, served_client):
    client, mount = served_client
    user = UserFactory(username="ada")
    page = RequestFactory().get("/")
    token = get_token(page)
    client.force_login(user)
    client.cookies["csrftoken"] = page.META["CSRF_COOKIE"]
    wire = Wire(client, mount)
    headers = {"Origin": ORIGIN, "X-CSRFToken": token}
    with testing.served(WhoAmI):
        own = wire.modern("tools/call", {"name": "whoami"}, headers=headers)
        foreign = wire.modern("tools/call", {"name": "whoami"}, headers={"Origin": ORIGIN})
    assert own == result(text('{"user":"ada"}'))
    assert foreign == refused(
        "auth",
        "auth_rejected",
        401,
        -32600,
        "CSRF token missing.",
        headers={"WWW-Authenticate": "Bearer"},
    )


@pytest.fixture(params=WIRES)
def served_client(request, settings):
    """A browser's client, on either view under either kind of request."""
    settings.MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", AUTHENTICATION]
    settings.DJANGO_MCP = {"AUTH": AUTH}
    client, mount = WIRES[request.param]
    return client(enforce_csrf_checks=True), mount
