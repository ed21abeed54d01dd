"""Bearer tokens: shown once, stored as a digest, found by one query."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from django_mcp import BaseTool, testing
from django_mcp.tokens.models import Token, digest
from tests.factories import UserFactory

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
    settings.DJANGO_MCP = {"AUTH": "django_mcp.auth.bearer.BearerTokenAuth"}

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


def mcp(*arguments):
    out = io.StringIO()
    call_command("mcp", *arguments, stdout=out)
    return out.getvalue().strip()


def test_the_command_makes_lists_and_revokes_tokens(call, ada):
    secret = mcp("token", "create", "ada", "--name", "laptop", "--days", "7")
    assert call(f"Bearer {secret}") == (200, '{"user":"ada"}')
    mcp("token", "create", "ada")
    newest, oldest = json.loads(mcp("token", "list", "--json"))
    assert (oldest["user"], oldest["name"], newest["expires"]) == ("ada", "laptop", None)
    assert oldest["last_used"] is not None
    assert mcp("token", "list", "--user", "ada").splitlines()[0] == (
        f"{newest['id']}\tada\t-\t{newest['created']}\t-\t-"
    )
    assert mcp("token", "revoke", str(oldest["id"])) == f"Token {oldest['id']} is revoked."
    assert call(f"Bearer {secret}") == UNKNOWN


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["token", "create", "nobody"], "There is no user 'nobody'."),
        (["token", "create", "ada", "--days", "0"], "--days must be at least 1."),
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
