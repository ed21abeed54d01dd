"""Bearer tokens: shown once, stored as a digest, found by one query."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections
from django.utils import timezone
from django.views.debug import ExceptionReporter

from django_mcp import BaseTool, conf, testing
from django_mcp.auth.bearer import BearerTokenAuth
from django_mcp.tokens.models import Token, digest
from tests.factories import UserFactory

AUTH = "django_mcp.auth.bearer.BearerTokenAuth"

pytestmark = pytest.mark.django_db


class WhoAmI(BaseTool):
    """Says who is calling."""

    name = "whoami"
    input_schema = {"type": "object", "properties": {}}

    def run(self, arguments, ctx):
        return {"user": ctx.user.get_username()}


@pytest.fixture
def ada():
    return UserFactory(username="ada")


@pytest.fixture
def call(wire, settings):
    """Call the tool with an Authorization header; the HTTP status and the answer's text or error come back."""
    settings.DJANGO_MCP = {"AUTH": AUTH}

    def send(authorization=None):
        headers = {} if authorization is None else {"Authorization": authorization}
        with testing.served(WhoAmI):
            answer = wire.modern("tools/call", {"name": "whoami"}, headers=headers)
        if "error" in answer.body:
            return answer.status, answer.body["error"]["message"]
        return answer.status, answer.body["result"]["content"][0]["text"]

    return send


UNKNOWN = (401, "The token is unknown, expired or revoked.")
MISSING = (401, "Send a token: Authorization: Bearer <token>.")


def test_a_token_stands_for_its_user(call, ada):
    _, secret = Token.objects.issue(ada)
    assert call(f"Bearer {secret}") == (200, '{"user":"ada"}')
    assert call(f"bearer   {secret} ") == (200, '{"user":"ada"}')


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi"])
def test_a_request_without_token_is_told_how_to_send_one(call, header):
    assert call(header) == MISSING


def test_two_tokens_in_one_header_are_none(call, ada):
    _, secret = Token.objects.issue(ada)
    assert call(f"Bearer {secret},Bearer {secret}") == UNKNOWN


@pytest.mark.parametrize("header", ["Bearer guess", "Bearer gr\xfcezi"])
def test_an_unknown_token_is_refused(call, header):
    assert call(header) == UNKNOWN


def test_an_expired_token_is_refused(call, ada):
    _, secret = Token.objects.issue(ada, expires=timezone.now() - timedelta(seconds=1))
    assert call(f"Bearer {secret}") == UNKNOWN
    _, secret = Token.objects.issue(ada, expires=timezone.now() + timedelta(hours=1))
    assert call(f"Bearer {secret}") == (200, '{"user":"ada"}')


def test_an_inactive_user_is_refused(call, ada):
    _, secret = Token.objects.issue(ada)
    User.objects.update(is_active=False)
    assert call(f"Bearer {secret}") == UNKNOWN


def test_the_secret_is_stored_nowhere(ada):
    token, secret = Token.objects.issue(ada, "laptop")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", secret)
    token.refresh_from_db()
    assert secret not in str(vars(token))
    assert token.digest == digest(secret)
    assert str(token) == "laptop"
    assert str(Token.objects.issue(ada)[0]).startswith("#")


def test_the_last_use_is_written_once_a_minute(ada, django_assert_num_queries):
    token, secret = Token.objects.issue(ada)
    token.touch()
    first = Token.objects.get().last_used
    assert first is not None
    with django_assert_num_queries(1):
        Token.objects.find(secret).touch()
    assert Token.objects.get().last_used == first
    Token.objects.update(last_used=first - timedelta(minutes=2))
    with django_assert_num_queries(2):
        Token.objects.find(secret).touch()
    assert Token.objects.get().last_used > first


class Failing(BaseTool):
    """Never works."""

    name = "whoami"
    input_schema = {"type": "object", "properties": {}}

    def run(self, arguments, ctx):
        raise RuntimeError("x")


def test_the_last_use_stays_when_the_tool_fails_and_is_rolled_back(wire, settings, ada, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    settings.DJANGO_MCP = {"AUTH": AUTH}
    _, secret = Token.objects.issue(ada)
    with testing.served(Failing):
        answer = wire.modern("tools/call", {"name": "whoami"}, headers={"Authorization": f"Bearer {secret}"})
    assert answer.body["result"]["isError"] is True
    assert Token.objects.get().last_used is not None


def test_a_call_costs_one_query(call, ada, django_assert_num_queries):
    _, secret = Token.objects.issue(ada)
    call(f"Bearer {secret}")
    with django_assert_num_queries(1):
        assert call(f"Bearer {secret}") == (200, '{"user":"ada"}')


def test_a_database_that_cannot_note_the_use_turns_nobody_away(call, ada, monkeypatch, caplog):
    def locked(token):
        raise OperationalError("database is locked")

    _, secret = Token.objects.issue(ada)
    monkeypatch.setattr(Token, "touch", locked)
    assert call(f"Bearer {secret}") == (200, '{"user":"ada"}')
    [record] = [record for record in caplog.records if record.exc_info]
    assert record.getMessage() == "The last use of a bearer token could not be noted."
    assert secret not in ExceptionReporter(None, *record.exc_info).get_traceback_text()


def test_a_report_of_a_crash_does_not_show_the_token(rf, monkeypatch):
    def broken(token):
        raise RuntimeError("x")

    monkeypatch.setattr("django_mcp.tokens.models.digest", broken)
    request = rf.post("/mcp", headers={"Authorization": "Bearer tell-nobody"})
    with pytest.raises(RuntimeError) as raised:
        BearerTokenAuth().authenticate(request)
    report = ExceptionReporter(request, raised.type, raised.value, raised.tb.tb_next)
    frames = {frame["function"]: str(frame["vars"]) for frame in report.get_traceback_frames()}
    assert {"authenticate", "find"} < set(frames)
    assert all("tell-nobody" not in frames[name] for name in ("authenticate", "find"))


def test_a_site_without_the_app_is_told(settings, monkeypatch):
    settings.DJANGO_MCP = {"AUTH": AUTH}
    assert conf.offences() == []
    monkeypatch.setattr(apps, "is_installed", lambda name: False)
    assert [offence.message for offence in conf.offences()] == [
        f"Server default: AUTH is '{AUTH}', which needs 'django_mcp.tokens' in INSTALLED_APPS."
    ]


def test_migrations_are_complete():
    call_command("makemigrations", "django_mcp_tokens", check_changes=True, dry_run=True, verbosity=0)


def mcp(*arguments):
    out = io.StringIO()
    call_command("mcp", *arguments, stdout=out, no_color=True)
    return out.getvalue().strip()


def test_the_command_makes_lists_and_revokes_tokens(call, ada):
    secret = mcp("token", "create", "ada", "--name", "laptop", "--expires-days", "7")
    assert call(f"Bearer {secret}") == (200, '{"user":"ada"}')
    made = json.loads(mcp("token", "create", "ada", "--json"))
    assert call(f"Bearer {made.pop('token')}") == (200, '{"user":"ada"}')
    newest, oldest = json.loads(mcp("token", "list", "--json"))
    assert made == newest | {"last_used": None}
    assert list(newest) == ["id", "user", "name", "created", "expires", "last_used"]
    assert (oldest["user"], oldest["name"], newest["expires"]) == ("ada", "laptop", None)
    assert timedelta(days=7) <= Token.objects.get(name="laptop").expires - timezone.now() + timedelta(
        minutes=1
    )
    assert [line.split() for line in mcp("token", "list", "--user", "ada").splitlines()] == [
        list(newest),
        [str(newest["id"]), "ada", "-", newest["created"], "-", newest["last_used"]],
        [str(oldest["id"]), "ada", "laptop", oldest["created"], oldest["expires"], oldest["last_used"]],
    ]
    assert mcp("token", "revoke", str(oldest["id"])) == f"Token {oldest['id']} is revoked."
    assert call(f"Bearer {secret}") == UNKNOWN


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["token", "create", "nobody"], "There is no user 'nobody'."),
        (["token", "create", "ada", "--expires-days", "0"], "--expires-days must be from 1 to 36500."),
        (["token", "create", "ada", "--expires-days", "36501"], "--expires-days must be from 1 to 36500."),
        (["token", "create", "ada", "--name", "n" * 101], "--name must have at most 100 characters."),
        (["token", "list", "--user", "nobody"], "There is no user 'nobody'."),
        (["token", "revoke", "99"], "There is no token 99."),
    ],
)
def test_the_command_says_what_is_wrong(ada, arguments, complaint):
    with pytest.raises(CommandError, match=re.escape(complaint)):
        mcp(*arguments)


def test_the_command_needs_a_subcommand():
    with pytest.raises(CommandError, match="subcommand"):
        mcp()


@pytest.fixture
def admin_site(settings, admin_client):
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ]
    settings.ROOT_URLCONF = "tests.tokens.urls"
    return admin_client


def test_the_admin_shows_a_new_token_once(admin_site, ada):
    url = "/admin/django_mcp_tokens/token/"
    form = {"user": ada.pk, "name": "laptop", "expires_0": "", "expires_1": ""}
    page = admin_site.post(f"{url}add/", form, follow=True).content.decode()
    [secret] = re.findall(r"The token is ([\w-]{43}) - copy it now, it is not shown again.", page)
    token = Token.objects.find(secret)
    assert (token.user, token.name) == (ada, "laptop")
    before = token.digest
    page = admin_site.post(
        f"{url}{token.pk}/change/", {**form, "name": "phone"}, follow=True
    ).content.decode()
    assert "copy it now" not in page
    token.refresh_from_db()
    assert (token.name, token.digest) == ("phone", before)
    assert secret not in admin_site.get(f"{url}{token.pk}/change/").content.decode()
