from __future__ import annotations

import pytest

from tests.wire import ABSENT, LEGACY, Answer

INFO = {"name": "MCP Server", "version": "1.0.0"}


def answered(version, **more):
    members = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO, **more}
    return Answer(200, {"jsonrpc": "2.0", "id": 1, "result": members})


@pytest.mark.parametrize("version", LEGACY)
@pytest.mark.parametrize("header", ["none", "same"])
def test_a_served_revision_is_agreed_to(wire, version, header):
    answer = wire.legacy(
        "initialize",
        {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
        version=ABSENT if header == "none" else version,
    )

    assert answer == answered(version)


@pytest.mark.parametrize("version", ["2024-11-05", "2026-07-28", "2099-01-01", 5, None, []])
def test_for_any_other_the_newest_with_a_handshake_is_offered(wire, settings, version):
    settings.DJANGO_MCP = {"LEGACY_VERSIONS": ["2025-03-26", "2025-06-18"]}

    assert wire.legacy("initialize", {"protocolVersion": version}, version=ABSENT) == answered("2025-06-18")


def test_a_handshake_may_name_no_version(wire):
    assert wire.legacy("initialize", version=ABSENT) == answered("2025-11-25")


def test_instructions_are_given_where_there_are_some(wire, settings):
    settings.DJANGO_MCP = {"INSTRUCTIONS": "Call help first."}

    answer = wire.legacy("initialize", {"protocolVersion": "2025-11-25"}, version=ABSENT)

    assert answer == answered("2025-11-25", instructions="Call help first.")


def test_no_session_is_opened_and_none_is_needed(wire):
    response = wire._generic(
        "POST",
        wire.mount,
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}',
        "application/json",
    )

    assert "Mcp-Session-Id" not in response.headers
    assert (
        wire.legacy(
            "tools/call", {"name": "echo"}, headers={"Mcp-Session-Id": "x", "Last-Event-ID": "1"}
        ).status
        == 200
    )
