from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import translation
from django.utils.translation import gettext_lazy

from django_mcp import BaseTool, testing
from django_mcp.registry.catalog import View, catalog
from tests.wire import ABSENT, refused, result

SCHEMA = {"type": "object", "additionalProperties": False, "$defs": {"a": {}}}
OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}}


class Full(BaseTool):
    """Has every member."""

    name = "full"
    title = "Full house"
    annotations = {"readOnlyHint": True}
    icons = [{"src": "https://shop.example.com/icon.png"}]
    input_schema = SCHEMA
    output_schema = OBJECT

    def run(self, arguments, ctx):
        return {"n": 1}


class Listing(BaseTool):
    """Answers a list."""

    name = "listing"
    input_schema = SCHEMA
    output_schema = {"type": "array"}

    def run(self, arguments, ctx):
        return []


class Staff(BaseTool):
    """For staff only."""

    name = "staff"
    input_schema = SCHEMA
    permission = staticmethod(lambda ctx: ctx.headers.get("X-Staff") == "yes")

    def run(self, arguments, ctx):
        return {}


class Translated(BaseTool):
    name = "translated"
    description = gettext_lazy("Yes")
    input_schema = SCHEMA

    def run(self, arguments, ctx):
        return {}


FULL = {
    "name": "full",
    "title": "Full house",
    "description": "Has every member.",
    "inputSchema": SCHEMA,
    "outputSchema": OBJECT,
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://shop.example.com/icon.png"}],
}
LISTING = {
    "name": "listing",
    "description": "Answers a list.",
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "array"},
}
STAFF = {"name": "staff", "description": "For staff only.", "inputSchema": SCHEMA}


def help_definition():
    found = catalog("default")
    return found.view(None).definition(found.by_name["help"])


def test_every_tool_is_listed_with_all_it_declares_and_help_last(wire):
    with testing.served(Full, Listing):
        members = {
            "tools": [FULL, LISTING, help_definition()],
            "ttlMs": 300000,
            "cacheScope": "private",
        }
        assert wire.modern("tools/list") == result(members)


def test_a_legacy_listing_has_no_stamps_and_only_object_outputs(wire):
    without = {key: value for key, value in LISTING.items() if key != "outputSchema"}
    with testing.served(Full, Listing):
        answer = wire.legacy("tools/list")
        tools = [FULL, without, help_definition()]

    assert (answer.status, answer.body) == (200, {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}})


@pytest.mark.parametrize("cursor", ["", "b2Zmc2V0OjUw", 5, None])
@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_there_is_one_page_so_every_cursor_is_unknown(wire, cursor, era):
    answer = getattr(wire, era)("tools/list", {"cursor": cursor})

    status = 400 if era == "modern" else 200
    message = "params.cursor is unknown: tools/list has a single page."
    assert answer == refused("dispatch", "invalid_cursor", status, -32602, message)


def names(answer):
    return [tool["name"] for tool in answer.body["result"]["tools"]]


def test_a_caller_sees_what_it_may_see(wire):
    with testing.served(Full, Staff):
        assert names(wire.modern("tools/list", headers={"X-Staff": "yes"})) == ["full", "staff", "help"]
        assert names(wire.modern("tools/list", headers={"X-Staff": ABSENT})) == ["full", "help"]
        assert names(wire.modern("tools/list", headers={"X-Staff": "yes"})) == ["full", "staff", "help"]


def test_a_translated_description_is_that_of_the_language_now(wire, settings):
    settings.MIDDLEWARE = ["django.middleware.locale.LocaleMiddleware"]

    def described(language):
        answer = wire.modern("tools/list", headers={"Accept-Language": language})
        return next(t["description"] for t in answer.body["result"]["tools"] if t["name"] == "translated")

    with testing.served(Translated):
        assert [described(language) for language in ("de", "en", "fr", "de")] == ["Ja", "Yes", "Oui", "Ja"]


def test_a_listing_is_built_once_for_all_who_see_the_same(wire, monkeypatch):
    built = []
    definition = View.definition
    monkeypatch.setattr(View, "definition", lambda self, one: built.append(one.name) or definition(self, one))
    with testing.served(Full, Staff):
        for staff in ("yes", "no", "yes", "maybe", "no"):
            wire.modern("tools/list", headers={"X-Staff": staff})
            wire.legacy("tools/list", headers={"X-Staff": staff})

    assert sorted(built) == sorted([*["full", "staff", "help"] * 2, *["full", "help"] * 2])


def test_the_kept_listings_are_bounded(wire, monkeypatch):
    monkeypatch.setattr("django_mcp.protocol.methods.tools_list._KEPT", 2)
    with testing.served(Full):
        for language in ("de", "en", "fr", "de"):
            with translation.override(language):
                assert names(wire.modern("tools/list")) == ["full", "help"]
        assert len(catalog("default").encoded) <= 2


def test_the_framework_s_own_tool_is_always_there(wire):
    with testing.served():
        assert names(wire.modern("tools/list")) == ["help"]


@pytest.mark.django_db
def test_a_permission_may_query_the_database(wire):
    with testing.served(Queried):
        assert names(wire.modern("tools/list")) == ["help"]
        assert wire.modern("tools/call", {"name": "queried"}).mark.reason == "unknown_tool"
        User.objects.create(username="ada")
        assert names(wire.modern("tools/list")) == ["queried", "help"]
        assert wire.modern("tools/call", {"name": "queried"}).status == 200


async def anybody(ctx):
    return await User.objects.aexists()


@pytest.mark.django_db
def test_an_asynchronous_permission_may_too(wire, monkeypatch):
    monkeypatch.setattr(Queried, "permission", staticmethod(anybody))

    test_a_permission_may_query_the_database(wire)


class Queried(BaseTool):
    """Seen once there are users; mirrors an argument."""

    name = "queried"
    input_schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}
    permission = staticmethod(lambda ctx: User.objects.exists())

    def run(self, arguments, ctx):
        return {}
