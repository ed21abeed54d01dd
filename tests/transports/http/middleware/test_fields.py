from __future__ import annotations

import pytest

from tests.wire import ABSENT, META, SERVED, P, refused, result, text

VERSION, CAPABILITIES = f"{P}protocolVersion", f"{P}clientCapabilities"
NOT_AN_OBJECT = f"params._meta must be an object with {VERSION} and {CAPABILITIES}."


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        (ABSENT, NOT_AN_OBJECT),
        (None, NOT_AN_OBJECT),
        ([], NOT_AN_OBJECT),
        ({}, f"params._meta lacks {VERSION} and {CAPABILITIES}."),
        ({CAPABILITIES: {}}, f"params._meta lacks {VERSION}."),
        ({VERSION: "2026-07-28"}, f"params._meta lacks {CAPABILITIES}."),
        ({**META, VERSION: 5}, f"params._meta {VERSION} must be a string."),
        ({**META, CAPABILITIES: []}, f"params._meta {CAPABILITIES} must be an object."),
        (
            {**META, f"{P}clientInfo": []},
            f"params._meta {P}clientInfo must be an object with the strings name and version.",
        ),
        (
            {**META, f"{P}clientInfo": {"name": "x"}},
            f"params._meta {P}clientInfo must be an object with the strings name and version.",
        ),
        (
            {**META, f"{P}logLevel": "loud"},
            f"params._meta {P}logLevel must be one of debug, info, notice, warning, error, critical, alert, emergency.",
        ),
        ({**META, "progressToken": 1.5}, "params._meta progressToken must be a string or an integer."),
        ({**META, "progressToken": True}, "params._meta progressToken must be a string or an integer."),
        ({**META, "progressToken": None}, "params._meta progressToken must be a string or an integer."),
    ],
)
def test_a_modern_request_carries_its_protocol_fields(wire, meta, message):
    answer = wire.modern("tools/call", {"name": "echo"}, meta=meta)

    assert answer == refused("fields", "invalid_fields", 400, -32602, message)


@pytest.mark.parametrize(
    "more",
    [
        {f"{P}clientInfo": {"name": "x", "version": "1"}},
        {f"{P}logLevel": "debug"},
        {"progressToken": "p"},
        {"progressToken": 0},
        {"traceparent": 5, "com.example/anything": None},
        {CAPABILITIES: {"roots": {}, "unheard-of": 5}},
    ],
)
def test_further_fields_are_optional(wire, more):
    assert wire.modern("tools/call", {"name": "echo"}, meta={**META, **more}) == result(text("{}"))


@pytest.mark.parametrize("params", [{}, {"name": None}, {"name": 5}, {"name": ["echo"]}])
def test_a_missing_tool_name_is_reported_before_header_binding(wire, params):
    answer = wire.modern("tools/call", params, headers={"Mcp-Method": "wrong", "Mcp-Name": "wrong"})

    assert answer == refused(
        "fields", "invalid_fields", 400, -32602, "params.name must be a string that names a tool."
    )


class TestEras:
    """Which revision a request is served under (its body, its MCP-Protocol-Version header, the settings)."""

    PING = {"jsonrpc": "2.0", "id": 1, "result": {}}
    TOOLS = text("{}")

    @pytest.mark.parametrize("version", SERVED[1:])
    def test_a_header_that_names_a_served_revision_is_legacy(self, wire, version):
        assert wire.legacy("ping", version=version).body == self.PING

    def test_without_any_version_it_is_the_oldest_revision(self, wire):
        assert wire.legacy("ping", version=ABSENT).body == self.PING

    def test_without_any_version_and_that_revision_not_served_the_header_is_missing(self, wire, settings):
        settings.DJANGO_MCP = {"LEGACY_VERSIONS": ["2025-06-18", "2025-11-25"]}
        message = (
            "The header MCP-Protocol-Version is missing; it names one of 2026-07-28, 2025-11-25, 2025-06-18."
        )

        assert wire.legacy("ping", version=ABSENT) == refused(
            "fields", "header_mismatch", 400, -32020, message
        )

    @pytest.mark.parametrize("version", ["2024-11-05", "v999.0.0", ""])
    @pytest.mark.parametrize("method", ["ping", "initialize"])
    def test_a_header_that_names_no_served_revision_is_refused(self, wire, version, method):
        message = f"Unsupported protocol version {version!r}; supported are {', '.join(SERVED)}."

        assert wire.legacy(method, version=version) == refused(
            "fields",
            "unsupported_version",
            400,
            -32022,
            message,
            data={"supported": SERVED, "requested": version},
        )

    def test_the_modern_header_alone_makes_a_request_modern(self, wire):
        answer = wire.legacy("ping", version="2026-07-28")

        assert answer == refused("fields", "invalid_fields", 400, -32602, NOT_AN_OBJECT)

    def test_a_modern_body_without_a_header_is_modern(self, wire):
        answer = wire.modern("tools/list", headers={"MCP-Protocol-Version": ABSENT})

        message = "The header MCP-Protocol-Version is missing; it must be '2026-07-28'."
        assert answer == refused("binding", "header_mismatch", 400, -32020, message)

    def test_surrounding_whitespace_of_the_header_does_not_count(self, wire):
        assert wire.legacy("ping", version=" 2025-11-25\t").body == self.PING

    @pytest.mark.parametrize("version", SERVED[1:])
    def test_a_legacy_header_decides_over_a_modern_body(self, wire, version):
        answer = wire.modern("tools/call", {"name": "echo"}, headers={"MCP-Protocol-Version": version})

        assert (answer.status, answer.body) == (200, {"jsonrpc": "2.0", "id": 1, "result": self.TOOLS})

    def test_mirrored_headers_need_not_be_there_then(self, wire):
        headers = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": ABSENT, "Mcp-Name": ABSENT}
        answer = wire.modern("tools/call", {"name": "echo"}, headers=headers)

        assert (answer.status, answer.body) == (200, {"jsonrpc": "2.0", "id": 1, "result": self.TOOLS})

    def test_mirrored_headers_that_are_there_must_match_then(self, wire):
        headers = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Name": "other"}
        answer = wire.modern("tools/call", {"name": "echo"}, headers=headers)

        message = "The header Mcp-Name is 'other' but the body says 'echo'."
        assert answer == refused("binding", "header_mismatch", 400, -32020, message)

    def test_with_the_lenient_header_off_the_body_decides(self, wire, settings):
        settings.DJANGO_MCP = {"LENIENT_VERSION_HEADER": False}
        answer = wire.modern("tools/list", headers={"MCP-Protocol-Version": "2025-11-25"})

        message = "The header MCP-Protocol-Version is '2025-11-25' but the body says '2026-07-28'."
        assert answer == refused("binding", "header_mismatch", 400, -32020, message)
        assert wire.legacy("ping").body == self.PING

    def test_a_legacy_revision_that_is_not_served_does_not_decide(self, wire, settings):
        settings.DJANGO_MCP = {"LEGACY_VERSIONS": ["2025-11-25"]}
        answer = wire.modern("tools/list", headers={"MCP-Protocol-Version": "2025-03-26"})

        message = "The header MCP-Protocol-Version is '2025-03-26' but the body says '2026-07-28'."
        assert answer == refused("binding", "header_mismatch", 400, -32020, message)

    def test_a_modern_only_server_tells_a_handshake_its_versions(self, wire, settings):
        settings.DJANGO_MCP = {"LEGACY_VERSIONS": []}
        answer = wire.legacy("initialize", {"protocolVersion": "2025-11-25"}, version=ABSENT)

        assert answer == refused(
            "fields",
            "unsupported_version",
            400,
            -32022,
            "Unsupported protocol version '2025-11-25'; supported are 2026-07-28.",
            data={"supported": ["2026-07-28"], "requested": "2025-11-25"},
        )

    def test_a_handshake_that_names_no_version_is_told_too(self, wire, settings):
        settings.DJANGO_MCP = {"LEGACY_VERSIONS": []}
        answer = wire.legacy("initialize", {"protocolVersion": 5}, version=ABSENT)

        assert answer == refused(
            "fields",
            "unsupported_version",
            400,
            -32022,
            "Unsupported protocol version ''; supported are 2026-07-28.",
            data={"supported": ["2026-07-28"], "requested": ""},
        )
