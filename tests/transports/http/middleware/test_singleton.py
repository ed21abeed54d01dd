from __future__ import annotations

import pytest

from tests.wire import refused


@pytest.mark.parametrize("header", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
@pytest.mark.parametrize("again", ["same", "other"])
def test_a_mirrored_header_sent_twice_is_refused_whatever_it_says(wire, header, again):
    value = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}[header]
    twice = f"{value},{value if again == 'same' else 'x'}"

    assert wire.modern("tools/call", {"name": "echo"}, headers={header: twice}) == refused(
        "singleton",
        "header_mismatch",
        400,
        -32020,
        f"The header {header} was sent more than once; send it exactly once.",
    )


def test_a_legacy_request_has_one_version_too(wire):
    answer = wire.legacy("ping", version="2025-11-25, 2025-11-25")

    assert answer == refused(
        "singleton",
        "header_mismatch",
        400,
        -32020,
        "The header MCP-Protocol-Version was sent more than once; send it exactly once.",
    )
