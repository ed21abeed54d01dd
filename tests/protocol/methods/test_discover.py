from __future__ import annotations

import pytest

from tests.wire import SERVED, P, refused, result

HINTS = {"ttlMs": 300000, "cacheScope": "private"}


def test_discovery_tells_revisions_capabilities_and_how_long_it_may_be_kept(wire):
    members = {"supportedVersions": SERVED, "capabilities": {"tools": {}}, **HINTS}

    assert wire.modern("server/discover") == result(members)


@pytest.mark.parametrize("legacy", [[], ["2025-06-18"], ["2025-03-26", "2025-11-25"]])
def test_it_lists_what_is_served_and_a_refusal_lists_the_same(wire, settings, legacy):
    settings.DJANGO_MCP = {"LEGACY_VERSIONS": legacy}
    served = ["2026-07-28", *sorted(legacy, reverse=True)]

    assert wire.modern("server/discover").body["result"]["supportedVersions"] == served
    meta = {f"{P}protocolVersion": "v999", f"{P}clientCapabilities": {}}
    refusal = wire.modern("server/discover", meta=meta, headers={"MCP-Protocol-Version": "v999"})
    assert refusal.body["error"]["data"] == {"supported": served, "requested": "v999"}


def test_instructions_are_given_unchanged_where_there_are_some(wire, settings):
    settings.DJANGO_MCP = {"INSTRUCTIONS": " Call help first.\n"}
    members = {
        "supportedVersions": SERVED,
        "capabilities": {"tools": {}},
        "instructions": " Call help first.\n",
        **HINTS,
    }

    assert wire.modern("server/discover") == result(members)


def test_cache_hints_are_the_configured_ones(wire, settings):
    settings.DJANGO_MCP = {"CACHE_TTL_MS": 0, "CACHE_SCOPE": "public"}
    found = wire.modern("server/discover").body["result"]

    assert {key: found[key] for key in HINTS} == {"ttlMs": 0, "cacheScope": "public"}


def test_the_server_says_who_it_is(wire, settings):
    settings.DJANGO_MCP = {
        "NAME": "shop",
        "VERSION": "3.1",
        "SERVER_INFO": {
            "title": "The shop",
            "description": "Orders and stock",
            "website_url": "https://shop.example.com",
            "icons": [
                {
                    "src": "https://shop.example.com/icon.png",
                    "mime_type": "image/png",
                    "sizes": ["48x48"],
                    "theme": "dark",
                },
                {"src": "data:image/png;base64,iVBORw0KGgo="},
            ],
        },
    }

    assert wire.modern("server/discover").body["result"]["_meta"][f"{P}serverInfo"] == {
        "name": "shop",
        "version": "3.1",
        "title": "The shop",
        "description": "Orders and stock",
        "websiteUrl": "https://shop.example.com",
        "icons": [
            {
                "src": "https://shop.example.com/icon.png",
                "mimeType": "image/png",
                "sizes": ["48x48"],
                "theme": "dark",
            },
            {"src": "data:image/png;base64,iVBORw0KGgo="},
        ],
    }


def test_what_is_not_said_is_left_out(wire, settings):
    settings.DJANGO_MCP = {"SERVER_INFO": {"icons": []}}

    assert wire.modern("server/discover").body["result"]["_meta"][f"{P}serverInfo"] == {
        "name": "MCP Server",
        "version": "1.0.0",
    }


@pytest.mark.parametrize(
    "method",
    [
        "ping",
        "logging/setLevel",
        "resources/list",
        "resources/subscribe",
        "prompts/list",
        "completion/complete",
        "subscriptions/listen",
        "TOOLS/LIST",
        "",
    ],
)
def test_a_method_that_is_not_served_does_not_exist(wire, method):
    message = f"Method not found: {method}"

    assert wire.modern(method) == refused("dispatch", "method_not_found", 404, -32601, message)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_server_without_background_work_has_no_tasks(wire, method):
    message = f"Method not found: {method}"
    gone = refused("dispatch", "method_not_found", 404, -32601, message)

    assert wire.modern(method, {"taskId": "0"}) == gone


def test_a_modern_handshake_is_told_the_versions(wire):
    message = f"Method not found: initialize; the protocol versions served are {', '.join(SERVED)}"

    assert wire.modern("initialize") == refused("dispatch", "method_not_found", 404, -32601, message)


def test_a_long_method_is_quoted_bounded(wire):
    message = f"Method not found: {'m' * 200}… (300 characters)"

    assert wire.modern("m" * 300) == refused("dispatch", "method_not_found", 404, -32601, message)
