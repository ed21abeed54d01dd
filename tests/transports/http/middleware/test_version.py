from __future__ import annotations

import pytest

from tests.wire import META, SERVED, P, refused


def call(wire, version, header=None):
    meta = {**META, f"{P}protocolVersion": version}
    headers = {"MCP-Protocol-Version": version if header is None else header}
    return wire.modern("tools/list", meta=meta, headers=headers)


def unsupported(requested, supported=SERVED):
    return refused(
        "version",
        "unsupported_version",
        400,
        -32022,
        f"Unsupported protocol version {requested!r}; supported are {', '.join(supported)}.",
        data={"supported": supported, "requested": requested},
    )


@pytest.mark.parametrize("version", ["v999.0.0", "2027-01-01", "2024-11-05", ""])
def test_another_revision_is_told_what_is_served_and_what_it_asked_for(wire, version):
    assert call(wire, version) == unsupported(version)


def test_only_what_is_configured_is_named_newest_first(wire, settings):
    settings.DJANGO_MCP = {"LEGACY_VERSIONS": ["2025-03-26", "2025-11-25"]}

    assert call(wire, "2027-01-01") == unsupported("2027-01-01", ["2026-07-28", "2025-11-25", "2025-03-26"])


def test_the_requested_revision_is_quoted_bounded(wire):
    answer = call(wire, "9" * 300)

    assert answer == unsupported("9" * 200 + "… (300 characters)")


def test_a_header_that_differs_is_a_mismatch_first(wire):
    message = "The header MCP-Protocol-Version is '2026-07-28' but the body says 'v999.0.0'."

    assert call(wire, "v999.0.0", header="2026-07-28") == refused(
        "binding", "header_mismatch", 400, -32020, message
    )
