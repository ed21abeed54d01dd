from __future__ import annotations

import pytest

from tests.wire import ABSENT, refused, result, text

SERVED = result(text("{}"))


def call(wire, origin=ABSENT, **headers):
    return wire.modern("tools/call", {"name": "echo"}, headers={"Origin": origin, **headers})


def not_allowed(origin):
    message = f"The origin {origin!r} is not allowed here (ALLOWED_ORIGINS)."
    return refused("origin", "origin_not_allowed", 403, -32600, message, id=ABSENT)


@pytest.fixture
def allowlist(settings):
    settings.DJANGO_MCP = {"ALLOWED_ORIGINS": ["https://app.example.com"]}


@pytest.mark.parametrize(
    "origin",
    [
        "http://testserver",
        "https://testserver:8443",
        "http://localhost:3000",
        "vscode://testserver",
        "http://TESTSERVER",
    ],
)
def test_an_origin_of_an_allowed_host_passes(wire, origin):
    assert call(wire, origin) == SERVED


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example.com",
        "null",
        "",
        "testserver",
        "http://user@testserver",
        "http://[::1",
        "http://testserver.evil.example.com",
    ],
)
def test_any_other_origin_is_refused(wire, origin):
    assert call(wire, origin) == not_allowed(origin)


def test_no_origin_passes_an_allowlist(wire, allowlist):
    assert call(wire) == SERVED


def test_an_origin_on_the_allowlist_passes(wire, allowlist):
    assert call(wire, "https://app.example.com") == SERVED


@pytest.mark.parametrize(
    "origin",
    ["https://APP.example.com", "https://app.example.com:443", "http://app.example.com", "http://testserver"],
)
def test_the_allowlist_is_compared_exactly(wire, allowlist, origin):
    assert call(wire, origin) == not_allowed(origin)


@pytest.mark.parametrize("origin", ["https://anywhere.example.com", "null"])
def test_a_star_allows_any_origin(wire, settings, origin):
    settings.DJANGO_MCP = {"ALLOWED_ORIGINS": ["*"]}

    assert call(wire, origin) == SERVED


@pytest.mark.parametrize("origins", [None, ["https://app.example.com"], ["*"]])
def test_an_origin_sent_twice_is_refused_in_every_configuration(wire, settings, origins):
    settings.DJANGO_MCP = {} if origins is None else {"ALLOWED_ORIGINS": origins}

    assert call(wire, "https://app.example.com,https://app.example.com") == refused(
        "origin",
        "duplicate_origin",
        400,
        -32600,
        "The Origin header was sent more than once; send it once.",
        id=ABSENT,
    )


def test_a_foreign_host_is_refused_in_json(wire):
    assert call(wire, Host="evil.example.com") == refused(
        "origin",
        "host_not_allowed",
        400,
        -32600,
        "The Host header names no host of this site (ALLOWED_HOSTS).",
        id=ABSENT,
    )


def test_a_host_named_by_a_trusted_proxy_counts(wire, settings):
    settings.USE_X_FORWARDED_HOST = True
    settings.ALLOWED_HOSTS = ["public.example.com"]

    assert call(wire, **{"Host": "internal:8000", "X-Forwarded-Host": "public.example.com"}) == SERVED


def test_in_debug_without_allowed_hosts_only_loopback_passes(wire, settings):
    settings.DEBUG = True
    settings.ALLOWED_HOSTS = []

    assert call(wire, "http://localhost:3000", Host="127.0.0.1:8000") == SERVED
    assert call(wire, "http://testserver", Host="127.0.0.1:8000") == not_allowed("http://testserver")


def test_a_long_origin_is_quoted_bounded(wire):
    answer = call(wire, "https://" + "x" * 300)

    assert answer == not_allowed("https://" + "x" * 192 + "… (308 characters)")
