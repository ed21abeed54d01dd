"""What tools/list publishes of each tool, and which tools a server serves."""

from __future__ import annotations

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy

from django_mcp import ConfigurationError, Tool, testing
from django_mcp.checks import check_mcp
from django_mcp.encoding.normalise import normalise
from django_mcp.registry.catalog import catalog, is_built


class Orders(Tool):
    """Orders of the shop."""

    actions = {
        "list": {"description": "List\torders ", "properties": {"page": {"type": "integer"}}},
        "create": {"description": "Create an order", "properties": {}, "required_one_of": []},
    }

    def run_action(self, action, data, ctx):
        return {}


def tool(name, **members):
    return type("T", (Orders,), {"__module__": __name__, "name": name, "description": name, **members})


def definitions(ctx=None):
    ctx = ctx or testing.build_context()
    view = catalog(ctx.server).view(ctx)
    return [normalise(view.definition(registration)) for registration in view.registrations]


def names(server):
    return [registration.name for registration in catalog(server).registrations]


def test_a_definition_has_name_description_and_input_schema():
    with testing.served(Orders):
        [orders, _] = definitions()
    assert orders == {
        "name": "orders",
        "description": "Orders of the shop.",
        "inputSchema": {
            "type": "object",
            "required": ["action"],
            "additionalProperties": False,
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["create", "list"],
                    "description": "create: Create an order\nlist: List\torders ",
                },
                "data": {"type": "object"},
            },
        },
    }


def test_a_definition_has_what_else_the_tool_gives():
    icon = {"src": "https://shop.example/o.png", "mimeType": "image/png"}
    given = {
        "title": "Orders",
        "annotations": {"readOnlyHint": True},
        "output_schema": {"type": "object"},
        "icons": [icon],
    }
    with testing.served(tool("full", **given)):
        [full, _] = definitions()
    assert {key: full[key] for key in full if key not in ("name", "description", "inputSchema")} == {
        "title": "Orders",
        "annotations": {"readOnlyHint": True},
        "outputSchema": {"type": "object"},
        "icons": [icon],
    }


def test_empty_annotations_are_left_out():
    with testing.served(tool("bare", annotations={}, icons=[])):
        assert definitions()[0].keys() == {"name", "description", "inputSchema"}


def test_a_tool_without_actions_has_an_empty_enum():
    with testing.served(tool("none", actions={})):
        assert definitions()[0]["inputSchema"]["properties"]["action"] == {
            "type": "string",
            "enum": [],
            "description": "",
        }


def test_tools_stand_in_the_order_of_declaration_help_last():
    with testing.served(tool("b"), tool("a"), tool("c")):
        assert names("default") == ["b", "a", "c", "help"]
    with testing.served():
        assert names("default") == ["help"]


def test_help_states_all_four_hints():
    with testing.served():
        [help_] = definitions()
    assert help_["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert help_["inputSchema"]["properties"].keys() == {"tool", "action"}
    assert help_["inputSchema"]["additionalProperties"] is False


def test_only_visible_actions_are_in_the_enum():
    guarded = {
        "open": {"description": "Open", "properties": {}},
        "hidden": {
            "description": "Hidden",
            "properties": {},
            "options": {"permission": lambda ctx: ctx.assigns.get("staff", False)},
        },
    }
    with testing.served(tool("guarded", actions=guarded)):
        staff, other = definitions(testing.build_context(assigns={"staff": True})), definitions()
    assert staff[0]["inputSchema"]["properties"]["action"]["enum"] == ["hidden", "open"]
    assert other[0]["inputSchema"]["properties"]["action"]["enum"] == ["open"]


def test_a_tool_of_which_no_action_is_visible_is_not_there():
    nothing = {"do": {"description": "x", "properties": {}, "options": {"permission": "no.such"}}}
    with testing.served(tool("guarded", actions=nothing), tool("closed", permission=lambda ctx: False)):
        assert [definition["name"] for definition in definitions()] == ["help"]


def test_descriptions_are_in_the_language_of_the_request():
    lazy = {"do": {"description": gettext_lazy("Delete"), "properties": {}}}
    with testing.served(tool("lazy", description=gettext_lazy("Password"), actions=lazy)):
        for language, tool_text, action_text in (("en", "Password", "Delete"), ("de", "Passwort", "Löschen")):
            with translation.override(language):
                [definition, _] = definitions()
                enum = definition["inputSchema"]["properties"]["action"]
                assert (definition["description"], enum["description"]) == (tool_text, f"do: {action_text}")


@pytest.fixture
def three():
    with testing.served(
        tool("a_one", tags={"public"}), tool("a_two", tags=["staff", "public"]), tool("b_three")
    ):
        yield


@pytest.mark.parametrize(
    ("filters", "served"),
    [
        ({}, ["a_one", "a_two", "b_three"]),
        ({"TAGS": ["public"]}, ["a_one", "a_two"]),
        ({"TAGS": ["staff", "public"]}, ["a_one", "a_two"]),
        ({"INCLUDE": ["a_*"]}, ["a_one", "a_two"]),
        ({"EXCLUDE": ["a_*"]}, ["b_three"]),
        ({"EXCLUDE": []}, ["a_one", "a_two", "b_three"]),
        ({"TAGS": ["public"], "INCLUDE": ["*"], "EXCLUDE": ["*_two"]}, ["a_one"]),
        # A pattern counts as alive by the tools there are, not by those that other filters leave.
        ({"TAGS": ["public"], "INCLUDE": ["a_one", "b_*"], "EXCLUDE": ["b_*"]}, ["a_one"]),
    ],
)
def test_filters_choose_what_a_server_serves(three, settings, filters, served):
    settings.DJANGO_MCP = filters
    assert names("default") == [*served, "help"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (
            {"TAGS": ["publik", "public"]},
            [("E080", "Server default: TAGS names publik; declared tags are public, staff.")],
        ),
        (
            {"INCLUDE": ["a_*", "A_*"]},
            [("E081", "Server default: INCLUDE pattern 'A_*' matches no tool of a_one, a_two, b_three.")],
        ),
        (
            {"EXCLUDE": ["c"]},
            [("E082", "Server default: EXCLUDE pattern 'c' matches no tool of a_one, a_two, b_three.")],
        ),
        ({"EXCLUDE": ["*"]}, [("E083", "Server default: its filters leave no tool to serve.")]),
        ({"TAGS": []}, [("E083", "Server default: its filters leave no tool to serve.")]),
        ({"INCLUDE": []}, [("E083", "Server default: its filters leave no tool to serve.")]),
        (
            {"TAGS": ["staff"], "INCLUDE": ["b_*"]},
            [("E083", "Server default: its filters leave no tool to serve.")],
        ),
    ],
)
def test_a_filter_that_cannot_mean_what_it_says_is_refused(three, settings, filters, expected):
    settings.DJANGO_MCP = filters
    assert [(message.id.removeprefix("django_mcp."), message.msg) for message in check_mcp(None)] == expected
    with pytest.raises(ConfigurationError):
        catalog("default")


@pytest.mark.parametrize("filters", [{"EXCLUDE": ["a_*"]}, {"INCLUDE": ["b_*"]}, {"TAGS": ["rest"]}])
def test_what_a_filter_leaves_out_is_not_there_at_all(settings, filters):
    settings.DJANGO_MCP = filters
    with testing.served(tool("a_one"), tool("b_two", tags={"rest"})):
        assert [one["name"] for one in testing.Client().list_tools()] == ["b_two", "help"]
        for name in ("a_one", "no_such"):
            with pytest.raises(testing.JSONRPCError, match=f"Unknown tool: {name}") as refused:
                testing.Client().call(name, action="list")
            assert refused.value.code == -32602
        told = [testing.error_json(testing.run_tool("help", {"tool": name})) for name in ("a_one", "no_such")]
    assert [(one["error"], one["valid_tools"]) for one in told] == [("unknown_tool", ["b_two", "help"])] * 2


@pytest.mark.parametrize("filters", [{"EXCLUDE": ["wrong"]}, {"INCLUDE": ["right"]}])
def test_a_wrong_declaration_is_told_though_a_filter_leaves_it_out(settings, filters):
    settings.DJANGO_MCP = filters
    with testing.served(tool("right"), tool("wrong", title=3)):
        told = [(message.id, message.msg) for message in check_mcp(None)]
        assert ("django_mcp.E005", "wrong: title must be a string or None; it is 3.") in told
        with pytest.raises(ConfigurationError):
            catalog("default")


def test_a_list_that_depends_on_the_caller_is_not_shared(settings):
    settings.DJANGO_MCP = {"SERVERS": {"open": {"CACHE_SCOPE": "public", "EXCLUDE": ["closed"]}}}
    with testing.served(tool("open"), tool("closed", permission="shop.view")):
        assert check_mcp(None) == []
        settings.DJANGO_MCP = {"CACHE_SCOPE": "public"}
        assert [(message.id, message.msg) for message in check_mcp(None)] == [
            (
                "django_mcp.E076",
                "Server default: CACHE_SCOPE is 'public' while permissions decide who sees closed.",
            )
        ]


def test_servers_differ_in_what_they_serve(three, settings):
    settings.DJANGO_MCP = {"SERVERS": {"public": {"TAGS": ["public"]}, "rest": {"EXCLUDE": ["a_*"]}}}
    assert names("public") == ["a_one", "a_two", "help"]
    assert names("rest") == ["b_three", "help"]


def test_a_catalog_is_built_once_until_settings_or_declarations_change(settings):
    with testing.served(tool("one")):
        assert not is_built("default")
        first = catalog("default")
        assert is_built("default")
        assert catalog("default") is first
        settings.DJANGO_MCP = {"NAME": "Other"}
        assert not is_built("default")
        assert catalog("default") is not first
