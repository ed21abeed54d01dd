"""What a handler learns of its call."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import RequestFactory
from django.utils.functional import SimpleLazyObject

from django_mcp import Context
from django_mcp.encoding.normalise import EncodingError


def test_without_authentication_the_user_is_anonymous():
    ctx = Context()
    assert isinstance(ctx.user, AnonymousUser)
    assert ctx.user is ctx.user


def test_the_user_is_who_authentication_found():
    user = User(username="ada")
    assert Context(identity=user).user is user


async def test_async_handlers_get_the_same_user():
    user = User(username="ada")
    assert await Context(identity=user).auser() is user


@pytest.mark.django_db(transaction=True)
async def test_a_lazy_user_is_loaded_off_the_event_loop():
    await User.objects.acreate(username="ada")
    lazy = SimpleLazyObject(lambda: User.objects.get(username="ada"))
    assert (await Context(identity=lazy).auser()).username == "ada"


def test_headers_are_found_whatever_their_case():
    request = RequestFactory().post("/mcp", headers={"x-tenant": "acme"})
    assert Context(request=request).headers["X-TENANT"] == "acme"


def test_without_a_request_there_are_no_headers():
    assert dict(Context().headers) == {}


def test_headers_may_be_given():
    assert Context(headers={"a": "b"}).headers == {"a": "b"}


def test_assigns_are_shared_with_whoever_fills_them():
    assigns = {"tenant": "acme"}
    assert Context(assigns=assigns).assigns is assigns
    assert Context().assigns == {}


def test_content_is_joined_with_plus():
    ctx = Context()
    joined = ctx.text("a") + ctx.text("b") + [{"type": "text", "text": "c"}]
    assert joined == [{"type": "text", "text": text} for text in "abc"]
    assert type(joined) is type(ctx.text("a"))


def test_json_content_takes_what_an_answer_takes():
    with pytest.raises(EncodingError):
        Context.json({"at": object()})


@pytest.mark.parametrize("fields", [{}, {"text": "a", "blob": "YQ=="}])
def test_an_embedded_resource_is_text_or_blob(fields):
    with pytest.raises(TypeError, match="either text or blob"):
        Context.embedded_resource("x://1", **fields)
