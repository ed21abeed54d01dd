"""Functions become tools, alone or in sets."""

from __future__ import annotations

import functools
import sys
import types

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, RootModel

from django_mcp import Context, Hint, Icon, Reply, Tool, ToolError, Toolset, action, signals, testing, tool
from django_mcp.authoring import declare
from django_mcp.checks import check_mcp
from django_mcp.registry.catalog import catalog
from django_mcp.schema import bound
from tests.typed.tools import LIVE, definition, found, made, only
from tests.wire import text


def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Both are whole.
    """
    return a + b


class Numbers(Toolset):
    @tool
    def half(self, n: int) -> float:
        """Halve a number."""
        return n / 2

    @tool(name="twice")
    async def double(self, n: int) -> int:
        """Double a number."""
        return n * 2

    def hidden(self, n: int) -> int:
        return n


class Params(BaseModel):
    n: int
    note: str = "none"


class Words(RootModel[list[str]]):
    pass


class Square(Toolset):
    def execute(self, params: Params) -> int:
        """Square a number."""
        return params.n**2


def names(*declared):
    with testing.served(*declared):
        return [registration.name for registration in catalog("default").registrations]


def test_a_function_is_a_tool_named_after_its_app():
    assert definition(made(add)) == {
        "name": "tests__add",
        "description": "Add two numbers.\n\nBoth are whole.",
        "inputSchema": {
            "properties": {"a": {"type": "integer"}, "b": {"default": 2, "type": "integer"}},
            "required": ["a"],
            "type": "object",
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        },
    }


def test_a_function_of_an_installed_app_has_the_apps_label():
    def count() -> int:
        """Count."""
        return 1

    count.__module__ = "example_project.tracker.mcp"
    assert names(made(count)) == ["tracker__count", "help"]


def test_a_decorated_function_stays_itself_and_is_registered():
    with testing.served():
        decorated = tool(add)
        assert declare.declarations() == (add,)
    assert decorated is add


def test_a_call_answers_what_the_function_returns(run):
    assert run(made(add), {"a": 1}) == {
        "content": [{"type": "text", "text": "3"}],
        "structuredContent": {"result": 3},
        "isError": False,
        "_meta": LIVE,
    }


def test_the_tools_of_a_set_are_its_marked_methods_in_order():
    assert names(Numbers) == ["twice", "numbers__half", "help"]


@pytest.mark.parametrize(("name", "answer"), [("numbers__half", "1.5"), ("twice", "6")])
def test_a_method_is_called_on_the_set(name, answer):
    with testing.served(Numbers):
        assert testing.text(testing.run_tool(name, {"n": 3})) == answer


async def test_an_async_method_is_awaited():
    with testing.served(Numbers):
        assert testing.text(await testing.arun_tool("twice", {"n": 3})) == "6"


def test_a_set_may_name_its_group():
    assert names(type("Other", (Numbers,), {"name": "math"})) == ["twice", "math__half", "help"]


def test_a_subclass_inherits_tools_and_hides_those_it_overrides_without_the_mark():
    class More(Numbers):
        def half(self, n: int) -> float:
            return 0.0

        @tool
        def third(self, n: int) -> float:
            """A third."""
            return n / 3

    assert names(More) == ["twice", "more__third", "help"]


def test_execute_is_a_tool_by_itself_with_the_fields_of_its_model():
    assert definition(Square) == {
        "name": "square__execute",
        "description": "Square a number.",
        "inputSchema": {
            "properties": {"n": {"type": "integer"}, "note": {"default": "none", "type": "string"}},
            "required": ["n"],
            "type": "object",
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        },
    }


def test_execute_gets_the_model(run):
    assert run(Square, {"n": 3})["structuredContent"] == {"result": 9}


def test_execute_gets_the_context_beside_the_model(run):
    class Cube(Toolset):
        def execute(self, params: Params, ctx: Context | None = None) -> str:
            """Cube a number."""
            return f"{params.n**3} {ctx.tool}"

    assert run(Cube, {"n": 3})["structuredContent"] == {"result": "27 cube__execute"}


def test_a_model_that_is_a_list_is_an_argument(run):
    class Join(Toolset):
        def execute(self, params: Words) -> str:
            """Join words."""
            return " ".join(params.root)

    assert run(Join, {"params": ["a", "b"]})["structuredContent"] == {"result": "a b"}


def test_methods_without_self_are_tools():
    class Free(Toolset):
        @staticmethod
        @tool
        def inner(n: int) -> int:
            """Inner."""
            return n

        @tool
        @staticmethod
        def outer(n: int) -> int:
            """Outer."""
            return n

        @classmethod
        @tool
        def named(cls, n: int) -> str:
            """Named."""
            return f"{cls.__name__} {n}"

    with testing.served(Free):
        answers = [
            testing.text(testing.run_tool(f"free__{name}", {"n": 3})) for name in ("inner", "outer", "named")
        ]
    assert answers == ["3", "3", "Free 3"]


def test_execute_may_take_plain_parameters(run):
    class Sum(Toolset):
        def execute(self, a: int, b: int) -> int:
            """Add."""
            return a + b

    assert run(Sum, {"a": 1, "b": 2})["structuredContent"] == {"result": 3}


def test_execute_beside_other_tools_is_one_of_them():
    class Both(Square):
        @tool
        def other(self) -> int:
            """Other."""
            return 1

    assert names(Both) == ["both__execute", "both__other", "help"]


def test_a_set_may_rule_its_execute_out():
    class Ruled(Numbers):
        entrypoint = False

        def execute(self, params: Params) -> int:
            return 1

    assert names(Ruled) == ["twice", "ruled__half", "help"]


OPTIONS = {
    "name": "sum",
    "title": "Sum",
    "description": "Sum up",
    "tags": {"public"},
    "icons": [Icon("https://shop.example/i.png", mime_type="image/png", sizes=("48x48",), theme="dark")],
    "read_only": True,
    "destructive": False,
    "idempotent": True,
    "open_world": False,
}


def test_options_are_published():
    listed = definition(made(add, **OPTIONS))
    assert {key: listed[key] for key in listed if not key.endswith("Schema")} == {
        "name": "sum",
        "title": "Sum",
        "description": "Sum up",
        "annotations": {
            "title": "Sum",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        "icons": [
            {
                "src": "https://shop.example/i.png",
                "mimeType": "image/png",
                "sizes": ["48x48"],
                "theme": "dark",
            }
        ],
    }


def test_only_hints_that_are_stated_are_published():
    assert definition(made(add, destructive=False))["annotations"] == {"destructiveHint": False}
    assert "annotations" not in definition(made(add))


def test_a_title_alone_is_an_annotation_too():
    assert definition(made(add, title="Add"))["annotations"] == {"title": "Add"}


def test_an_empty_description_falls_back_to_the_docstring():
    assert definition(made(add, description=""))["description"] == "Add two numbers.\n\nBoth are whole."


def test_options_of_a_set_hold_for_its_tools_that_state_none():
    class Shared(Toolset):
        tags = {"public"}
        read_only = True

        @tool
        def one(self) -> int:
            """One."""
            return 1

        @tool(read_only=False, tags={"staff"})
        def two(self) -> int:
            """Two."""
            return 2

    with testing.served(Shared):
        [one, two, _] = catalog("default").registrations
    assert [(entry.annotations, entry.tags) for entry in (one, two)] == [
        ({"readOnlyHint": True}, {"public"}),
        ({"readOnlyHint": False}, {"staff"}),
    ]


def test_filters_know_typed_tools_by_name_and_tag(settings):
    settings.DJANGO_MCP = {"SERVERS": {"staff": {"INCLUDE": ["numbers__*"]}, "public": {"TAGS": ["open"]}}}
    with testing.served(Numbers, made(add, tags=["open"])):
        staff = [entry.name for entry in catalog("staff").registrations]
        public = [entry.name for entry in catalog("public").registrations]
    assert (staff, public) == (["numbers__half", "help"], ["tests__add", "help"])


def test_a_permission_hides_a_tool():
    guarded = made(add, permission=lambda ctx: False)
    with testing.served(guarded), pytest.raises(testing.JSONRPCError, match="Unknown tool: tests__add"):
        testing.run_tool("tests__add", {"a": 1})


def test_a_read_only_tool_runs_without_a_transaction(monkeypatch):
    assert only(made(add, read_only=True)).typed.options == {"read_only": True}


def test_a_description_follows_the_language_of_the_request():
    listed = made(add, description=gettext_lazy("Monday"))
    with translation.override("de"):
        assert definition(listed)["description"] == "Montag"
    assert definition(listed)["description"] == "Monday"


def test_a_context_is_handed_over_whatever_it_is_called(run):
    def who(a: int, request: Context, *args: int, other: Context, **rest: int) -> str:
        """Who."""
        return f"{request is other} {request.tool} {request.action} {args} {rest}"

    declared = made(who)
    assert list(definition(declared)["inputSchema"]["properties"]) == ["a"]
    assert run(declared, {"a": 1}) == {
        **text("True tests__who None () {}", meta=LIVE),
        "structuredContent": {"result": "True tests__who None () {}"},
    }


@pytest.mark.parametrize(
    "name",
    [
        "self",
        "ctx",
        "data",
        "action",
        "request",
        "method",
        "component",
        "budget",
        "correlation_id",
        "model_config",
        "json",
        "schema",
        "argument_0",
        "_private",
    ],
)
def test_a_parameter_may_have_any_name(run, name):
    namespace = {"__name__": __name__}
    exec(f"def show({name}: int) -> int:\n    'Show.'\n    return {name}", namespace)
    assert run(made(namespace["show"]), {name: 3})["structuredContent"] == {"result": 3}


def test_a_tool_error_is_answered_as_any_other(run):
    def fail() -> int:
        """Fail."""
        raise ToolError("no such thing")

    assert run(made(fail)) == text(
        "Operation failed: no such thing",
        is_error=True,
        meta={"django_mcp.error": "error", "django_mcp.retryable": False},
    )


class Helpful(Toolset):
    @tool
    def look(self) -> Reply[dict[str, int]]:
        """Look."""
        return Reply({"seen": 1}, hint_context={"n": 2})

    @tool
    def count(self) -> Reply[int]:
        """Count."""
        return Reply(3, hint_context={"n": 2})

    @tool
    def fail(self) -> int:
        """Fail."""
        raise ToolError("lost")

    def hints(self, action, hint_context):
        return [Hint(tool="helpful__look", description=f"After {action}", example=hint_context)]

    def handle_error(self, reason):
        return f"Sorry: {reason}"

    def action_context(self, action, ctx):
        return {"open": 7}


HINTS = [{"tool": "helpful__look", "description": "After look", "example": {"n": 2}}]


def test_the_callbacks_of_a_set_shape_the_answers_of_its_tools():
    with testing.served(Helpful):
        looked = testing.run_tool("helpful__look")
        counted = testing.run_tool("helpful__count")
        failed = testing.run_tool("helpful__fail")
    assert looked["structuredContent"] == {"seen": 1, "hints": HINTS, "context": {"open": 7}}
    assert counted["structuredContent"] == {
        "result": 3,
        "hints": [{**HINTS[0], "description": "After count"}],
        "context": {"open": 7},
    }
    assert testing.json(counted) == counted["structuredContent"]
    assert testing.error_text(failed) == "Sorry: lost"


def test_signals_of_a_typed_tool_come_from_what_declares_it(run):
    heard = []

    def hear(sender, **fields):
        heard.append((sender, fields["tool"], fields["action"]))

    function = made(add)
    signals.tool_stopped.connect(hear)
    try:
        run(function, {"a": 1})
        run(Square, {"n": 1})
    finally:
        signals.tool_stopped.disconnect(hear)
    assert heard == [(function, "tests__add", None), (Square, "square__execute", None)]


def test_help_shows_the_schemas():
    function = made(add)
    listed = definition(function)
    with testing.served(function):
        index = testing.json(testing.run_tool("help"))
        level = testing.json(testing.run_tool("help", {"tool": "tests__add"}))
        action = testing.error_json(testing.run_tool("help", {"tool": "tests__add", "action": "run"}))
    assert index["tools"][0] == {"tool": "tests__add", "description": listed["description"], "actions": []}
    assert level == {
        "tool": "tests__add",
        "description": listed["description"],
        "input_schema": listed["inputSchema"],
        "output_schema": listed["outputSchema"],
    }
    assert action["error"] == "unknown_action"


class TestOffences:
    def test_a_name_is_a_word(self):
        assert found(made(add, name="a b")) == [
            (
                "E002",
                "a b: The tool name 'a b' is not 1 to 128 characters of A-Z a-z 0-9 _ . -",
                "Set name to such a word, for example the snake_case of the class.",
            )
        ]

    def test_two_tools_of_one_name_are_told_with_both_origins(self):
        same = found(made(add, name="same"), made(found, name="same", description="x"))
        assert (
            "E003",
            "same: The tool name 'same' is declared by tests.typed.test_declaring.add and "
            "tests.typed.tools.found.",
            "Give each tool a name of its own.",
        ) in same

    def test_a_name_of_the_frameworks_is_reserved(self):
        assert [one[0] for one in found(made(add, name="help"))] == ["E004"]

    def test_a_tool_has_a_description(self):
        def bare() -> int:
            return 1

        assert found(made(bare)) == [
            (
                "E005",
                "tests__bare: description must be a string, lazily translated or not; it is None.",
                "Write a docstring.",
            )
        ]

    @pytest.mark.parametrize(
        ("options", "id", "message"),
        [
            ({"title": 3}, "E005", "title must be a string or None; it is 3."),
            ({"tags": "word"}, "E005", "tags must be a set, list or tuple of strings; it is word."),
            ({"icons": [1]}, "E005", "icons must be a list of icons or None; it is [1]."),
            ({"read_only": "yes"}, "E014", "read_only must be True or False; it is yes."),
            ({"permission": "x"}, "E011", "permission 'x' is neither a codename nor a callable."),
            (
                {"readonly": True},
                "E013",
                "unknown options readonly; known are name, title, description, tags, icons, permission, "
                "read_only, destructive, idempotent, open_world, background, policy, timeout.",
            ),
        ],
    )
    def test_options_are_known_and_have_their_type(self, options, id, message):
        assert [one[:2] for one in found(made(add, **options))] == [(id, f"tests__add: {message}")]

    def test_everything_is_told_at_once(self):
        assert [one[0] for one in found(made(lambda x, /: 1, name="", title=3, tags=4))] == [
            "E002",
            "E005",
            "E005",
            "E005",
            "E092",
        ]

    def test_a_set_has_tools(self):
        class Empty(Toolset):
            pass

        assert found(Empty) == [
            ("E094", "empty: The Toolset has no tools.", "Mark methods with @tool, or define execute.")
        ]

    def test_execute_is_not_marked_and_ruled_out(self):
        class Torn(Toolset):
            entrypoint = False

            @tool
            def execute(self) -> int:
                """Do it."""
                return 1

        assert found(Torn) == [
            (
                "E095",
                "torn: execute is marked with @tool, and entrypoint = False says that it is no tool.",
                "Remove one of the two.",
            )
        ]

    def test_callbacks_of_a_set_are_plain_functions(self):
        class Waiting(Numbers):
            async def hints(self, action, hint_context):
                return []

        assert [one[0] for one in found(Waiting)] == ["E008"]

    def test_a_parameter_has_a_name(self):
        def sole(a: int, /) -> int:
            """Sole."""
            return a

        assert found(made(sole)) == [
            (
                "E092",
                "tests__sole: the parameter a is positional-only, and arguments have names.",
                "Move the slash in front of it, or drop the slash.",
            )
        ]

    def test_the_place_of_an_offence_is_the_method(self):
        class Wrong(Toolset):
            @tool(title=3)
            def half(self, n: int) -> float:
                """Halve."""
                return n / 2

        with testing.served(Wrong):
            [message] = check_mcp(None)
        assert message.hint.endswith(f"({__file__}:{Wrong.half.__code__.co_firstlineno})")

    def test_an_action_of_a_set_is_none(self):
        class Mixed(Numbers):
            @action(description="Do it")
            def act(self, n: int) -> int:
                return n

        assert found(Mixed) == [
            (
                "E096",
                "mixed: act is marked with @action, which this class does not look for.",
                "Mark it with @tool, or derive from Tool.",
            )
        ]

    def test_a_typed_tool_of_a_tool_of_actions_is_none(self):
        class Mixed(Tool):
            """Mixed."""

            @action(description="Do it")
            def act(self, n: int):
                return n

            @tool
            def half(self, n: int) -> int:
                """Half."""
                return n

        assert found(Mixed) == [
            (
                "E096",
                "mixed: half is marked with @tool, which this class does not look for.",
                "Mark it with @action, or derive from Toolset.",
            )
        ]

    def test_a_class_of_an_mcp_module_that_is_not_registered_is_a_warning(self, monkeypatch):
        module = types.ModuleType("shop.mcp")
        module.Base = type("Base", (Numbers,), {"__module__": "shop.mcp"})
        module.Used = type("Used", (module.Base,), {"__module__": "shop.mcp"})
        module.Forgotten = type("Forgotten", (Numbers,), {"__module__": "shop.mcp"})
        type("Inner", (Numbers,), {"__module__": "shop.mcp"})
        monkeypatch.setitem(sys.modules, "shop.mcp", module)
        assert [one for one in found(module.Used) if "shop" in one[1]] == [
            (
                "W006",
                "Forgotten: It is defined in shop.mcp and not registered, so no server serves it.",
                "Decorate it with @register, or move a base class into another module.",
            )
        ]

    def test_a_plain_class_of_an_mcp_module_with_marked_methods_is_a_warning(self, monkeypatch):
        def half(self, n: int) -> float:
            """Halve."""
            return n / 2

        half.__qualname__ = "Plain.half"
        module = types.ModuleType("shop.mcp")
        module.Plain = type("Plain", (), {"__module__": "shop.mcp", "half": tool(half)})
        module.Mixin = type("Mixin", (), {"__module__": "shop.mcp", "half": half})
        module.Used = type("Used", (module.Mixin, Toolset), {"__module__": "shop.mcp"})
        module.Acts = type("Acts", (), {"__module__": "shop.mcp", "act": action(lambda self: {})})
        module.other = Numbers
        monkeypatch.setitem(sys.modules, "shop.mcp", module)
        assert [one for one in found(module.Used) if one[0] == "W006"] == [
            (
                "W006",
                f"{name}: It has methods marked with {mark} and is no {base}, so no server serves them.",
                f"Derive it from {base} and decorate it with @register.",
            )
            for name, mark, base in (("Plain", "@tool", "Toolset"), ("Acts", "@action", "Tool"))
        ]

    @pytest.mark.parametrize("given", ["greet", len, functools.partial(add, 1)])
    def test_what_is_no_function_is_not_decorated_with_tool(self, given):
        with testing.served():
            left = tool(given)
            [declared] = declare.declarations()
        assert left is given or left(add) is add
        [(id, message, hint)] = found(declared)
        assert (id, hint) == (
            "E097",
            'Write @tool or @tool(name="..."), above a function; options are given by name.',
        )
        assert (
            f": @tool takes a function that is written with def, not {bound.render(repr(given))}." in message
        )

    def test_a_class_is_not_decorated_with_tool(self):
        with testing.served():
            decorated = tool(type("Odd", (), {}))
        assert [one[0] for one in found(decorated)] == ["E001"]
