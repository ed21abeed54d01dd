from __future__ import annotations

from base64 import b64encode

import pytest

from django_mcp import BaseTool, testing
from tests.wire import ABSENT, implied, refused, request, result, text

SERVED = result(text("{}"))


def call(wire, **headers):
    return wire.modern("tools/call", {"name": "echo"}, headers=headers)


def mismatch(message):
    return refused("binding", "header_mismatch", 400, -32020, message)


def sentinel(value):
    return f"=?base64?{b64encode(value.encode()).decode()}?="


@pytest.mark.parametrize(
    ("header", "body"),
    [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")],
)
class TestEachHeader:
    def test_missing_is_a_mismatch(self, wire, header, body):
        message = f"The header {header} is missing; it must be {body!r}."

        assert call(wire, **{header: ABSENT}) == mismatch(message)

    def test_empty_is_present_and_a_mismatch(self, wire, header, body):
        assert call(wire, **{header: ""}) == mismatch(
            f"The header {header} is '' but the body says {body!r}."
        )

    def test_another_value_is_a_mismatch(self, wire, header, body):
        assert call(wire, **{header: "other"}) == mismatch(
            f"The header {header} is 'other' but the body says {body!r}."
        )

    def test_the_case_of_the_name_does_not_count(self, wire, header, body):
        assert call(wire, **{header: ABSENT, header.upper(): body}) == SERVED
        assert call(wire, **{header: ABSENT, header.lower(): body}) == SERVED

    def test_surrounding_whitespace_does_not_count(self, wire, header, body):
        assert call(wire, **{header: f" \t{body}  "}) == SERVED

    @pytest.mark.parametrize("value", ["caf\xe9", "a\x01b", "\x7f"])
    def test_other_than_visible_ascii_is_malformed(self, wire, header, body, value):
        assert call(wire, **{header: value}) == mismatch(f"The header {header} is malformed: {value!r}.")


@pytest.mark.parametrize(("header", "value"), [("Mcp-Method", "TOOLS/CALL"), ("Mcp-Name", "Echo")])
def test_the_case_of_values_counts(wire, header, value):
    body = {"Mcp-Method": "tools/call", "Mcp-Name": "echo"}[header]

    assert call(wire, **{header: value}) == mismatch(
        f"The header {header} is {value!r} but the body says {body!r}."
    )


def test_a_name_in_the_base64_sentinel_is_decoded_before_comparing(wire):
    assert call(wire, **{"Mcp-Name": sentinel("echo")}) == SERVED


def test_a_name_that_is_no_ascii_travels_in_the_sentinel(wire):
    answer = wire.modern("tools/call", {"name": "Größe"}, headers={"Mcp-Name": sentinel("Größe")})

    message = "Unknown tool: Größe. Call tools/list or the help tool for the tools there are."
    assert answer == refused("dispatch", "unknown_tool", 200, -32602, message)


def test_a_wrong_name_in_the_sentinel_is_shown_decoded(wire):
    message = "The header Mcp-Name is 'other' but the body says 'echo'."

    assert call(wire, **{"Mcp-Name": sentinel("other")}) == mismatch(message)


@pytest.mark.parametrize("payload", ["SGVsbG8", "SGVs!!!bG8=", "/w==", "ZWNoby==", "ZWNobx==", "SGVs bG8="])
def test_a_broken_sentinel_is_malformed(wire, payload):
    value = f"=?base64?{payload}?="

    assert call(wire, **{"Mcp-Name": value}) == mismatch(f"The header Mcp-Name is malformed: {value!r}.")


@pytest.mark.parametrize(
    "value", ["ZWNobw==", "=?base64?ZWNobw==", "ZWNobw==?=", "=?BASE64?ZWNobw==?=", "=?base64?="]
)
def test_half_a_sentinel_is_literal_text(wire, value):
    assert call(wire, **{"Mcp-Name": value}) == mismatch(
        f"The header Mcp-Name is {value!r} but the body says 'echo'."
    )


@pytest.mark.parametrize("header", ["MCP-Protocol-Version", "Mcp-Method"])
def test_only_names_and_arguments_may_use_the_sentinel(wire, header):
    body = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}[header]
    value = sentinel(body)

    assert call(wire, **{header: value}) == mismatch(
        f"The header {header} is {value!r} but the body says {body!r}."
    )


def test_both_values_are_quoted_bounded(wire):
    answer = wire.modern("tools/call", {"name": "b" * 300}, headers={"Mcp-Name": "a" * 300})

    shown = [f"'{letter * 200}… (300 characters)'" for letter in "ab"]
    assert answer == mismatch(f"The header Mcp-Name is {shown[0]} but the body says {shown[1]}.")


def test_a_name_header_without_a_named_method_is_ignored(wire):
    value = request("tools/list")
    listed = wire.post(value, implied(value))

    assert wire.post(value, {**implied(value), "Mcp-Name": "anything"}) == listed
    assert (listed.status, listed.mark) == (200, None)


class TestLegacy:
    @pytest.mark.parametrize("headers", [{}, {"Mcp-Method": "tools/call"}, {"Mcp-Name": sentinel("echo")}])
    def test_mirrored_headers_are_optional(self, wire, headers):
        answer = wire.legacy("tools/call", {"name": "echo"}, headers=headers)

        assert answer.body == {"jsonrpc": "2.0", "id": 1, "result": text("{}")}

    def test_what_is_sent_must_match(self, wire):
        answer = wire.legacy("tools/call", {"name": "echo"}, headers={"Mcp-Method": "ping"})

        assert answer == mismatch("The header Mcp-Method is 'ping' but the body says 'tools/call'.")


class Mirror(BaseTool):
    """Arguments that are repeated in headers."""

    name = "mirror"
    input_schema = {
        "type": "object",
        "properties": {
            "branch": {"type": "string", "x-mcp-header": "Branch"},
            "count": {"type": "integer", "x-mcp-header": "Item-Count"},
            "urgent": {"type": "boolean", "x-mcp-header": "Urgent"},
            "address": {"type": "object", "properties": {"zip": {"type": "string", "x-mcp-header": "Zip"}}},
            "rest": {},
        },
    }

    def run(self, arguments, ctx):
        return {"keys": sorted(arguments)}


class Hidden(Mirror):
    name = "hidden"
    permission = staticmethod(lambda ctx: ctx.assigns.get("staff", False))


@pytest.fixture
def mirror(wire):
    """Call the tool `mirror` with arguments and the `Mcp-Param` headers."""

    def call(arguments, *, send=wire.modern, **headers):
        headers = {f"Mcp-Param-{name.replace('_', '-')}": value for name, value in headers.items()}
        params = {"name": "mirror"} if arguments is ABSENT else {"name": "mirror", "arguments": arguments}
        return send("tools/call", params, headers=headers)

    with testing.served(Mirror):
        yield call


def answered(*keys):
    return result(text(f'{{"keys":[{",".join(f"{key!r}" for key in keys)}]}}'.replace("'", '"')))


def unequal(message):
    return refused("validate", "header_mismatch", 400, -32020, message)


class TestMirroredArguments:
    @pytest.mark.parametrize(
        "arguments", [ABSENT, None, {}, {"branch": None, "address": {"zip": None}}, {"address": 5}]
    )
    def test_what_is_absent_or_null_has_no_header(self, mirror, arguments):
        keys = sorted(arguments) if isinstance(arguments, dict) else []

        assert mirror(arguments) == answered(*keys)
        message = "The header Mcp-Param-Zip is sent without the argument address.zip."
        assert mirror(arguments, Zip="8000") == unequal(message)

    def test_an_argument_without_its_header_is_refused(self, mirror):
        message = "The header Mcp-Param-Branch is missing; it mirrors the argument branch."

        assert mirror({"branch": "Bern"}) == unequal(message)

    @pytest.mark.parametrize(
        ("branch", "header"),
        [
            ("Bern", "Bern"),
            ("Bern", "  Bern "),
            ("", ""),
            ("a,b", "a,b"),
            ("Zürich Süd", "=?base64?WsO8cmljaCBTw7xk?="),
            ("Bern", "=?base64?QmVybg==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            (5, "5"),
            (5.5, "5.5"),
            (["a"], '["a"]'),
        ],
    )
    def test_a_string_is_compared_as_text(self, mirror, branch, header):
        assert mirror({"branch": branch}, Branch=header) == answered("branch")

    @pytest.mark.parametrize(
        ("branch", "header"), [("Bern", "bern"), ("Bern", ""), ("42", "42.0"), (5, "5.0"), ("true", "TRUE")]
    )
    def test_another_text_is_refused_and_both_are_named(self, mirror, branch, header):
        shown = f'"{branch}"' if isinstance(branch, str) else branch
        message = f"The header Mcp-Param-Branch is {header!r} but the argument branch is {shown}."

        assert mirror({"branch": branch}, Branch=header) == unequal(message)

    @pytest.mark.parametrize("header", ["=?base64?QmVybg?=", "Z\xfcrich"])
    def test_a_malformed_header_is_refused(self, mirror, header):
        message = f'The header Mcp-Param-Branch is {header!r} but the argument branch is "Bern".'

        assert mirror({"branch": "Bern"}, Branch=header) == unequal(message)

    @pytest.mark.parametrize(
        ("count", "header"),
        [
            (42, "42"),
            (42, "42.0"),
            (42.0, "42"),
            (-7, "-7.00"),
            (0, "-0"),
            (9007199254740991, "9007199254740991"),
        ],
    )
    def test_an_integer_is_compared_by_value(self, mirror, count, header):
        assert mirror({"count": count}, Item_Count=header) == answered("count")

    @pytest.mark.parametrize(
        ("count", "header"),
        [
            (42, "43"),
            (42, "4.2e1"),
            (42, "+42"),
            (42, "42."),
            (42, "0x2a"),
            (42, ""),
            (9007199254740992, "9007199254740993"),
        ],
    )
    def test_another_number_is_refused(self, mirror, count, header):
        message = f"The header Mcp-Param-Item-Count is {header!r} but the argument count is {count}."

        assert mirror({"count": count}, Item_Count=header) == unequal(message)

    @pytest.mark.parametrize(("urgent", "header"), [(True, "true"), (False, "false")])
    def test_a_boolean_is_true_or_false(self, mirror, urgent, header):
        assert mirror({"urgent": urgent}, Urgent=header) == answered("urgent")

    @pytest.mark.parametrize(("urgent", "header"), [(True, "True"), (True, "1"), (False, "true")])
    def test_another_boolean_is_refused(self, mirror, urgent, header):
        shown = "true" if urgent else "false"
        message = f"The header Mcp-Param-Urgent is {header!r} but the argument urgent is {shown}."

        assert mirror({"urgent": urgent}, Urgent=header) == unequal(message)

    def test_a_nested_argument_is_mirrored_too(self, mirror):
        assert mirror({"address": {"zip": "8000"}}, Zip="8000") == answered("address")
        message = "The header Mcp-Param-Zip is '3000' but the argument address.zip is \"8000\"."
        assert mirror({"address": {"zip": "8000"}}, Zip="3000") == unequal(message)

    def test_headers_that_no_tool_declares_are_ignored(self, mirror):
        assert mirror({"rest": 1}, Rest="2", Unheard_Of="3") == answered("rest")

    def test_long_values_are_quoted_bounded(self, mirror):
        shown = [f"'{'a' * 200}… (300 characters)'", f'"{"b" * 199}… (302 characters)']
        message = f"The header Mcp-Param-Branch is {shown[0]} but the argument branch is {shown[1]}."

        assert mirror({"branch": "b" * 300}, Branch="a" * 300) == unequal(message)

    def test_a_legacy_client_need_not_mirror(self, wire, mirror):
        answer = mirror({"branch": "Bern"}, send=wire.legacy)

        assert answer.body["result"] == text('{"keys":["branch"]}')

    @pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": ["mirror"]}])
    def test_a_legacy_client_that_names_no_tool_mirrors_nothing(self, wire, params):
        with testing.served(Mirror):
            answer = wire.legacy("tools/call", params, headers={"Mcp-Param-Branch": "Bern"})

        message = "params.name must be a string that names a tool."
        assert answer.body["error"] == {"code": -32602, "message": message}

    def test_but_what_it_mirrors_must_match(self, wire, mirror):
        message = "The header Mcp-Param-Branch is 'Basel' but the argument branch is \"Bern\"."

        assert mirror({"branch": "Bern"}, send=wire.legacy, Branch="Basel") == unequal(message)

    def test_a_hidden_tool_is_as_unknown_as_one_that_does_not_exist(self, wire):
        with testing.served(Mirror, Hidden):
            hidden = wire.modern("tools/call", {"name": "hidden", "arguments": {"branch": "Bern"}})
            missing = wire.modern("tools/call", {"name": "absent", "arguments": {"branch": "Bern"}})

        message = "Unknown tool: hidden. Call tools/list or the help tool for the tools there are."
        assert hidden == refused("dispatch", "unknown_tool", 200, -32602, message)
        assert missing.body["error"]["message"] == message.replace("hidden", "absent")
