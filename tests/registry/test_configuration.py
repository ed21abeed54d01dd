"""What is declared wrongly is told by `manage.py check`, all at once, and never served."""

from __future__ import annotations

import datetime
import inspect
import re
from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType

import pytest
from django.core.checks import Error, Warning
from django.utils.functional import lazystr

from django_mcp import (
    BaseTool,
    ConfigurationError,
    Icon,
    Tool,
    Toolset,
    action,
    register,
    testing,
)
from django_mcp import (
    tool as typed_tool,
)
from django_mcp.authoring import declare
from django_mcp.checks import check_mcp
from django_mcp.registry.catalog import catalog

HERE = __file__
GOOD = {"description": "Do it", "properties": {}}


class Plain(Tool):
    """A tool in the plain form."""

    name = "plain"

    def run_action(self, action, data, ctx):
        return {}


def plain(actions, **members):
    return type("Plain", (Plain,), {"__module__": __name__, "actions": actions, **members})


def found(*tools):
    """The offences of these tools, as (id, message), while none of them is served if one is an error."""
    with declare.replaced(tools):
        messages = check_mcp(None)
        if any(isinstance(message, Error) for message in messages):
            with pytest.raises(ConfigurationError):
                catalog("default")
        else:
            catalog("default")
        return [(message.id.removeprefix("django_mcp."), message.msg) for message in messages]


def in_action(schema, name="do", formats=None):
    """The offences of one action, without their common beginning."""
    return [
        (id_, message.removeprefix(f"plain: Action {name}: "))
        for id_, message in found(plain({name: schema}))
    ]


def in_property(schema):
    """The offences of one property schema."""
    return in_action({"description": "Do it", "properties": {"p": schema}})


def test_a_right_tool_has_no_offence():
    assert found(plain({"do": GOOD})) == []


def test_a_tool_without_actions_of_its_own_choice_is_right():
    assert found(plain({})) == []


@pytest.mark.parametrize(
    ("name", "label", "problem"),
    [
        (3, "3", "the name is 3, which is no string"),
        (None, "None", "the name is None, which is no string"),
        ("a\nb", "'a\\nb'", "the name is empty or holds a newline, which would break the list of actions"),
        ("", "''", "the name is empty or holds a newline, which would break the list of actions"),
    ],
)
def test_an_action_name_is_a_string_of_one_line(name, label, problem):
    assert found(plain({name: GOOD})) == [("E020", f"plain: Action {label}: {problem}.")]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ([], [("E021", "its schema is [], not a plain dict.")]),
        (OrderedDict(GOOD), [("E021", f"its schema is {OrderedDict(GOOD)!r}, not a plain dict.")]),
        (
            {**GOOD, "zeta": 1, "alpha": 2},
            [
                (
                    "E022",
                    "unknown keys alpha, zeta; known are description, properties, required, required_one_of, "
                    "defaults, notes, related, examples, and the options permission, read_only, destructive, "
                    "idempotent, open_world, background, policy, timeout.",
                )
            ],
        ),
        ({"properties": {}}, [("E024", "it has no description.")]),
        ({**GOOD, "description": 3}, [("E025", "description is 3, which is no string.")]),
        (
            {**GOOD, "description": "a\nb"},
            [("E026", "description holds a newline, which would break the list of actions.")],
        ),
        ({"description": "x"}, [("E027", "it has no properties.")]),
        ({**GOOD, "properties": []}, [("E028", "properties is [], not a plain dict.")]),
        ({**GOOD, "required": "p"}, [("E029", "required is p, not a list of property names.")]),
        ({**GOOD, "required": [1]}, [("E029", "required is [1], not a list of property names.")]),
        (
            {"description": "x", "properties": {"p": {}}, "required": ["p", "p"]},
            [("E030", "required names p twice.")],
        ),
        (
            {**GOOD, "required": ["q", "r"]},
            [("E031", "required names q, r, which properties does not declare.")],
        ),
        (
            {**GOOD, "required_one_of": ["p"]},
            [("E032", "required_one_of is ['p'], not a list of lists of property names.")],
        ),
        ({**GOOD, "required_one_of": [[]]}, [("E033", "required_one_of holds an empty group.")]),
        (
            {"description": "x", "properties": {"p": {}}, "required_one_of": [["p", "p"]]},
            [("E034", "the group p, p names p twice.")],
        ),
        (
            {**GOOD, "required_one_of": [["q"]]},
            [("E035", "the group q names q, which properties does not declare.")],
        ),
        (
            {
                "description": "x",
                "properties": {"a": {}, "b": {}},
                "required_one_of": [["a", "b"], ["b", "a"]],
            },
            [("E036", "the group a, b is declared twice.")],
        ),
        (
            {"description": "x", "properties": {"a": {}, "b": {}}, "required_one_of": [["b", "a"], ["a"]]},
            [("E037", "the group b, a is dead: a already satisfies.")],
        ),
        ({**GOOD, "defaults": []}, [("E038", "defaults is [], not a plain dict.")]),
        (
            {**GOOD, "defaults": {"q": 1, 2: 3}},
            [
                ("E039", "defaults names q, 2, which properties does not declare."),
                ("E023", "defaults: it has the key 2, which is no string."),
            ],
        ),
        (
            {"description": "x", "properties": {"p": {}}, "required": ["p"], "defaults": {"p": 1}},
            [("E040", "p is required and has a default, which would never be used.")],
        ),
        (
            {
                "description": "x",
                "properties": {"p": {"type": "object", "properties": {"q": {}}}},
                "defaults": {"p": {"z": 1}},
            },
            [("E041", "defaults holds p.z, which a caller could not send.")],
        ),
        (
            {
                "description": "x",
                "properties": {"p": {"type": "integer"}, "q": {"type": "array", "items": {"minimum": 3}}},
                "defaults": {"p": "1", "q": [5, 1]},
            },
            [
                ("E042", "the default at p must be of type integer."),
                ("E042", "the default at q[1] must be at least 3."),
            ],
        ),
        ({**GOOD, "notes": 3}, [("E043", "notes is 3, which is no string.")]),
        ({**GOOD, "related": "x"}, [("E044", "related is x, not a list of action names.")]),
        ({**GOOD, "examples": [1]}, [("E045", "examples is [1], not a list of payloads.")]),
        (
            {**GOOD, "examples": [{"at": datetime.date(2027, 1, 1)}]},
            [
                (
                    "E023",
                    "examples: [0].at is datetime.date(2027, 1, 1), a datetime.date, which JSON cannot carry.",
                )
            ],
        ),
        ({**GOOD, "options": []}, [("E012", "options must be a plain dict; it is [].")]),
        (
            {**GOOD, "options": {"readonly": True}},
            [
                (
                    "E013",
                    "unknown options readonly; known are permission, read_only, destructive, idempotent, "
                    "open_world, background, policy, timeout.",
                )
            ],
        ),
        ({**GOOD, "options": {"destructive": 1}}, [("E014", "destructive must be True or False; it is 1.")]),
        (
            {**GOOD, "options": {"permission": "add_task"}},
            [("E011", "permission 'add_task' is neither a codename nor a callable.")],
        ),
        (
            {**GOOD, "options": {"policy": 3}},
            [("E110", "policy is 3, not a Policy.")],
        ),
        (
            {**GOOD, "options": {"timeout": 3}},
            [("E017", "timeout stands on a handler that is not async; nothing interrupts it.")],
        ),
        (
            {**GOOD, "options": {"timeout": "3"}},
            [
                ("E016", "timeout must be a number of seconds; it is 3."),
                ("E017", "timeout stands on a handler that is not async; nothing interrupts it."),
            ],
        ),
        ({**GOOD, "related": ["gone"]}, [("W001", "related names 'gone', which is no action of the tool.")]),
    ],
)
def test_an_action_schema_keeps_its_rules(schema, expected):
    assert in_action(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {**GOOD, "notes": "one\ntwo"},
        {**GOOD, "description": lazystr("lazily translated")},
        {**GOOD, "required": [], "defaults": {}, "required_one_of": [], "examples": [], "related": []},
        {**GOOD, "options": {"permission": lambda ctx: True, "read_only": True, "idempotent": False}},
    ],
)
def test_what_an_action_schema_may_hold(schema):
    assert in_action(schema) == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {3: {}}}, [("E050", "properties.p.properties has the key 3, which is no string.")]),
        ({"items": {4: 1}}, [("E050", "properties.p.items has the key 4, which is no string.")]),
        (
            {"additionalProperties": {5: 1}},
            [("E050", "properties.p.additionalProperties has the key 5, which is no string.")],
        ),
        ({"enum": [{6: 1}]}, [("E050", "properties.p.enum[0] has the key 6, which is no string.")]),
        ({"properties": []}, [("E051", "properties.p.properties is [], not a dict of schemas.")]),
        (
            {"additionalProperties": "no"},
            [
                (
                    "E052",
                    "properties.p.additionalProperties is no, which is neither true, false nor a schema.",
                ),
                ("E055", "properties.p.additionalProperties is no, where a schema belongs."),
            ],
        ),
        ({"enum": ("a", "b")}, [("E053", "properties.p.enum is a tuple.")]),
        (
            {"pattern": re.compile("a")},
            [("E053", "properties.p.pattern is re.compile('a'), a re.Pattern, which JSON cannot carry.")],
        ),
        (
            {"const": Decimal("1.5")},
            [("E053", "properties.p.const is Decimal('1.5'), a decimal.Decimal, which JSON cannot carry.")],
        ),
        (
            {"const": MappingProxyType({})},
            [
                (
                    "E053",
                    "properties.p.const is mappingproxy({}), a builtins.mappingproxy, which JSON cannot carry.",
                )
            ],
        ),
        ({"minimum": float("inf")}, [("E054", "properties.p.minimum is inf, which JSON does not have.")]),
        (3, [("E055", "properties.p is 3, where a schema belongs.")]),
        ({"items": "string"}, [("E055", "properties.p.items is string, where a schema belongs.")]),
        ({"format": "dat"}, [("E056", "properties.p.format is dat, which is no known format.")]),
        (
            {"$defs": {"unused": {"format": "dat"}}},
            [("E056", 'properties.p["$defs"].unused.format is dat, which is no known format.')],
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#"},
            [
                (
                    "E057",
                    'properties.p["$schema"] is http://json-schema.org/draft-07/schema#, a dialect that is not '
                    "supported.",
                )
            ],
        ),
        ({"$id": "x"}, [("E058", 'properties.p["$id"] gives the schema another base for its references.')]),
        (
            {"$ref": "https://example.com/s.json"},
            [
                (
                    "E059",
                    'properties.p["$ref"] is https://example.com/s.json; a remote reference is never fetched.',
                )
            ],
        ),
        (
            {"$ref": "file:///etc/passwd"},
            [("E059", 'properties.p["$ref"] is file:///etc/passwd; a remote reference is never fetched.')],
        ),
        (
            {"$ref": "#/$defs/gone"},
            [("E060", 'properties.p["$ref"] is #/$defs/gone, which leads nowhere in this schema.')],
        ),
        (
            {"$ref": "#/properties/p"},
            [("E060", 'properties.p["$ref"] is #/properties/p, which leads only back to itself.')],
        ),
        (
            {"$defs": {"a": {"$ref": "#/properties/p/$defs/b"}, "b": {"$ref": "#/properties/p/$defs/a"}}},
            [
                (
                    "E060",
                    f'properties.p["$defs"].{name}["$ref"] is #/properties/p/$defs/{other}, '
                    "which leads only back to itself.",
                )
                for name, other in ("ab", "ba")
            ],
        ),
        (
            {"$ref": "#/properties/p/$defs/a", "$defs": {"a": {"$ref": "#/properties/p/$defs/a"}}},
            [
                (
                    "E060",
                    'properties.p["$defs"].a["$ref"] is #/properties/p/$defs/a, which leads only back to itself.',
                )
            ],
        ),
        *(
            (
                schema,
                [
                    (
                        "E060",
                        f'properties.p.{place}["$ref"] is #/properties/p, which leads only back to itself.',
                    )
                ],
            )
            for schema, place in (
                ({"allOf": [True, {"$ref": "#/properties/p"}]}, "allOf[1]"),
                ({"anyOf": [{"$ref": "#/properties/p"}, {"type": "string"}]}, "anyOf[0]"),
                ({"oneOf": [{"allOf": [{"$ref": "#/properties/p"}]}]}, "oneOf[0].allOf[0]"),
                ({"not": {"$ref": "#/properties/p"}}, "not"),
                ({"if": {}, "then": {"$ref": "#/properties/p"}}, "then"),
                ({"dependentSchemas": {"a": {"$ref": "#/properties/p"}}}, "dependentSchemas.a"),
            )
        ),
        (
            {"properties": {"a": {}}, "allOf": [{"properties": {"a": {}, "b": {}}}]},
            [("E061", "properties.p.allOf adds b beside closed properties.")],
        ),
        (
            {"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"c": {}}}}},
            [("E061", "properties.p.dependentSchemas adds c beside closed properties.")],
        ),
        (
            {"type": "strng"},
            [
                (
                    "E064",
                    "properties.p.type breaks the meta-schema: 'strng' is not valid under any of the given schemas.",
                )
            ],
        ),
        (
            {"minLength": -1, "required": "x"},
            [
                ("E064", "properties.p.minLength breaks the meta-schema: -1 is less than the minimum of 0."),
                ("E064", "properties.p.required breaks the meta-schema: 'x' is not of type 'array'."),
            ],
        ),
    ],
)
def test_a_property_schema_keeps_its_rules(schema, expected):
    assert in_property(schema) == expected


def test_a_lazy_string_has_no_place_in_a_schema():
    [(id_, message)] = in_property({"description": lazystr("x")})
    assert id_ == "E053"
    assert message.startswith("properties.p.description is")


def test_a_pattern_that_cannot_be_compiled_is_refused():
    [(id_, message)] = in_property({"pattern": "("})
    assert id_ == "E064"
    assert "properties.p.pattern" in message or "cannot be built" in message


def test_a_schema_that_contains_itself_is_refused():
    schema = {"type": "array"}
    schema["items"] = schema
    assert in_property(schema) == [("E062", "properties.p.items contains itself.")]


def test_a_schema_is_bounded_in_depth():
    schema = {}
    for _ in range(200):
        schema = {"items": schema}
    [(id_, message)] = in_property(schema)
    assert id_ == "E063"
    assert message.endswith(" is nested more than 100 levels deep.")


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {
            "$ref": "#/properties/p/$defs/node",
            "$defs": {"node": {"properties": {"next": {"$ref": "#/properties/p"}}}},
        },
        {"format": "password"},
        {"format": "binary"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"properties": {"a": {}}, "allOf": [{"required": ["a"]}]},
        {"properties": {"a": {}}, "additionalProperties": True, "allOf": [{"properties": {"b": {}}}]},
        {"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
        {"prefixItems": [{"type": "string"}], "items": False},
        {
            "anyOf": [
                {"type": "null"},
                {"items": {"$ref": "#/properties/p"}},
                {"$ref": "#/properties/p/items"},
            ],
            "items": {},
        },
    ],
)
def test_what_a_property_schema_may_hold(schema):
    assert in_property(schema) == []


def test_nothing_is_fetched_to_judge_a_reference(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network or the disk was asked")

    import builtins
    import socket

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    assert [id_ for id_, _ in in_property({"$ref": "file:///etc/hostname"})] == ["E059"]
    assert [id_ for id_, _ in in_property({"$ref": "http://127.0.0.1:1/x"})] == ["E059"]


def test_a_site_adds_formats_of_its_own(settings):
    settings.DJANGO_MCP = {"FORMATS": {"sku": str.isupper, "color": None}}
    schema = {"description": "x", "properties": {"a": {"format": "sku"}, "b": {"format": "color"}}}
    assert in_action(schema) == []
    with testing.served(plain({"do": schema})):
        assert (
            testing.run_tool("plain", {"action": "do", "data": {"a": "ABC", "b": "any"}})["isError"] is False
        )
        assert testing.run_tool("plain", {"action": "do", "data": {"a": "abc"}})["isError"] is True


def test_all_offences_are_told_at_once():
    schema = {"description": "a\nb", "properties": {"p": {"format": "x"}}, "required": ["q"], "zzz": 1}
    assert [id_ for id_, _ in found(plain({"do": schema, "a\n": GOOD}, title=3, tags="word"))] == [
        "E005",
        "E005",
        "E022",
        "E026",
        "E031",
        "E056",
        "E020",
    ]


SHAPES = {
    "name": (3, "name must be a string; it is 3."),
    "description": (3, "description must be a string, lazily translated or not; it is 3."),
    "title": (3, "title must be a string or None; it is 3."),
    "annotations": (OrderedDict(), "annotations must be a plain dict or None; it is OrderedDict()."),
    "output_schema": ([], "output_schema must be a plain dict or None; it is []."),
    "icons": ([1], "icons must be a list of icons or None; it is [1]."),
    "tags": ("word", "tags must be a set, list or tuple of strings; it is word."),
    "actions": (OrderedDict(), "actions must be a plain dict; it is OrderedDict()."),
}


@pytest.mark.parametrize("member", SHAPES)
@pytest.mark.parametrize("form", ["attribute", "method"])
def test_a_class_level_member_has_its_shape(member, form):
    value, problem = SHAPES[member]
    members = {member: value if form == "attribute" else lambda self: value}
    tool = type("Plain", (Plain,), {"__module__": __name__, "actions": {"do": GOOD}, **members})
    label = "Plain" if member == "name" else "plain"
    assert found(tool) == [("E005", f"{label}: {problem}")]


CLEAN = "text with a lone surrogate, which is no character"


@pytest.mark.parametrize(
    ("member", "value", "problem"),
    [
        ("description", "a\udcff", f"description is {CLEAN}"),
        ("title", lazystr("\udcff"), f"title is {CLEAN}"),
        ("annotations", {"title": "\udcff"}, f"annotations.title is {CLEAN}"),
        ("annotations", {3: True}, "annotations is a mapping with the key 3 (int)"),
        (
            "annotations",
            {"x": [float("nan")]},
            "annotations.x[0] is the number nan, which JSON does not have",
        ),
        ("annotations", {"x": object()}, "annotations.x is an object of the type builtins.object"),
        ("icons", [Icon("https://shop.example/\udcff.png")], f"icons[0].src is {CLEAN}"),
        ("icons", [{"src": b"x"}], "icons[0].src is binary data (bytes)"),
    ],
)
def test_what_a_tool_says_of_itself_is_json(member, value, problem):
    expected = [("E019", f"plain: {problem}.")]
    assert found(plain({"do": GOOD}, **{member: value})) == expected
    if member != "annotations":  # of a typed tool they come from its options
        with testing.served():
            typed = typed_tool(name="plain", **{"description": "x", member: value})(lambda: 1)
        assert found(typed) == expected


@pytest.mark.parametrize(("member", "value"), [("input_schema", None), ("options", [])])
def test_a_hand_written_tool_has_its_shapes_too(member, value):
    class Hand(BaseTool):
        """By hand."""

        input_schema = {"type": "object"}

        def run(self, arguments, ctx):
            return {}

    setattr(Hand, member, value)
    assert found(Hand) == [("E005", f"hand: {member} must be a plain dict; it is {value}.")]


def test_every_member_that_is_read_has_a_case_here():
    from django_mcp.authoring import reading

    assert set(SHAPES) | {"input_schema", "options"} == {
        *reading.SHAPES,
        *reading.ACTIONS_SHAPE,
        *reading.INPUT_SHAPE,
    }


def test_members_may_be_left_out():
    class Bare(Tool):
        """Its docstring,

        of two paragraphs.
        """

        @action(**GOOD)
        def do(self, data, ctx):
            return {}

    with testing.served(Bare):
        [tool, _] = catalog("default").registrations
    assert (tool.name, tool.description) == ("bare", "Its docstring,\n\nof two paragraphs.")
    assert (tool.title, tool.annotations, tool.output_schema, tool.icons, tool.tags) == (
        None,
        None,
        None,
        (),
        frozenset(),
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Tasks", "tasks"),
        ("PullRequests", "pull_requests"),
        ("HTTPServer", "http_server"),
        ("V2Orders", "v2_orders"),
    ],
)
def test_the_name_is_the_class_name_in_snake_case(name, expected):
    with testing.served(type(name, (Plain,), {"name": None, "actions": {}})):
        assert catalog("default").registrations[0].name == expected


def test_a_tool_without_description_is_refused():
    class Bare(Tool):
        actions = {}

        def run_action(self, action, data, ctx):
            return {}

    assert found(Bare) == [
        ("E005", "bare: description must be a string, lazily translated or not; it is None.")
    ]
    assert hints(Bare) == ["Write a docstring."]


def test_a_description_is_inherited_from_the_tool_it_derives_from():
    class Child(Plain):
        name = "child"
        actions = {}

    with testing.served(Child):
        assert catalog("default").registrations[0].description == "A tool in the plain form."


@pytest.mark.parametrize("name", ["with space", "", "ä", "x" * 129])
def test_a_tool_name_is_a_word(name):
    [(id_, message)] = found(plain({}, name=name))
    assert id_ == "E002"
    assert message.endswith("is not 1 to 128 characters of A-Z a-z 0-9 _ . -.") or "1 to 128" in message


def test_the_name_help_is_reserved():
    assert found(plain({}, name="help")) == [
        ("E004", "help: The tool name 'help' is reserved: every server has that tool already.")
    ]


def test_a_name_is_declared_once():
    message = (
        "plain: The tool name 'plain' is declared by tests.registry.test_configuration.Plain and "
        "tests.registry.test_configuration.Plain."
    )
    assert found(plain({}), plain({})) == [("E003", message), ("E003", message)]


@pytest.mark.parametrize("declared", [3, print, dict])
def test_only_tools_are_registered(declared):
    name = getattr(declared, "__qualname__", "3")
    assert found(declared) == [
        ("E001", f"{name}: @register takes a subclass of Tool, BaseTool or Toolset, not {declared!r}.")
    ]


def test_a_tool_declares_its_actions():
    class Bare(Tool):
        """Bare."""

    assert found(Bare) == [("E007", "bare: The tool declares no actions.")]


def test_declared_actions_need_run_action():
    class Bare(Tool):
        """Bare."""

        actions = {"do": GOOD}

    assert found(Bare) == [
        ("E007", "bare: The tool declares actions but does not define run_action(self, action, data, ctx).")
    ]


def test_a_hand_written_tool_needs_run():
    class Bare(BaseTool):
        """Bare."""

        input_schema = {"type": "object"}

    assert found(Bare) == [("E007", "bare: The tool does not define run(self, arguments, ctx).")]


def test_the_two_forms_of_actions_do_not_mix():
    class Mixed(Plain):
        """Mixed."""

        actions = {"do": GOOD}

        @action(**GOOD)
        def other(self, data, ctx):
            return {}

    assert found(Mixed) == [
        ("E010", "plain: The tool declares actions both with @action and in an actions mapping.")
    ]


def test_an_override_without_the_mark_is_no_action():
    class Parent(Tool):
        """Parent."""

        @action(**GOOD)
        def one(self, data, ctx):
            return {}

        @action(**GOOD)
        def two(self, data, ctx):
            return {}

    class Child(Parent):
        def two(self, data, ctx):
            return {}

    with testing.served(Child):
        assert list(catalog("default").registrations[0].actions) == ["one"]


@pytest.mark.parametrize(
    ("callback", "parameters"),
    [
        ("before_submit", "action, data, ctx"),
        ("hints", "action, hint_context"),
        ("handle_error", "reason"),
        ("action_context", "action, ctx"),
    ],
)
def test_callbacks_take_what_they_are_called_with(callback, parameters):
    def wrong(self):
        return None

    for tool in (
        plain({}, **{callback: wrong}),
        type("Plain", (Toolset,), {"__module__": __name__, callback: wrong, "execute": execute}),
    ):
        [(id_, message)] = found(tool)
        assert (id_, message.partition(": ")[2]) == (
            "E018",
            f"{callback} cannot be called: too many positional arguments.",
        )
        assert hints(tool) == [f"Write it as {callback}(self, {parameters})."]


def execute(self) -> int:
    """The only tool of a Toolset."""
    return 1


def test_a_callback_that_python_does_not_describe_is_taken_as_it_is():
    assert found(plain({}, handle_error=str)) == []


def test_run_takes_arguments_and_context():
    class Wrong(BaseTool):
        """Wrong."""

        input_schema = {"type": "object", "properties": {}}

        def run(self, arguments):
            return {}

    assert found(Wrong) == [
        ("E009", "wrong: run cannot be called as a handler: too many positional arguments.")
    ]
    assert hints(Wrong) == ["Write it as run(self, arguments, ctx)."]


@pytest.mark.parametrize("callback", ["hints", "handle_error", "action_context"])
def test_callbacks_are_plain_functions(callback):
    async def late(self, *args):
        return None

    assert found(plain({}, **{callback: late})) == [
        ("E008", f"plain: {callback} is async def; only handlers and permissions may be.")
    ]


def test_a_handler_takes_data_and_context():
    class Wrong(Tool):
        """Wrong."""

        @action(**GOOD)
        def do(self, data):
            return {}

    assert found(Wrong) == [
        ("E009", "wrong: do cannot be called as a handler: too many positional arguments.")
    ]


def hints(*tools):
    """What the offences of these tools say to do, without the place."""
    with declare.replaced(tools):
        return [message.hint.rsplit(" (", 1)[0] for message in check_mcp(None)]


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({**GOOD, "readonly": True, "note": ""}, "Did you mean notes and read_only?"),
        ({**GOOD, "zeta": 1}, "Remove them or correct their spelling."),
        ({**GOOD, "read_only": True, "timeout": 1}, "Put read_only, timeout into options."),
        ({**GOOD, "read_only": True, "note": ""}, "Put read_only into options. Did you mean notes?"),
        ({**GOOD, "options": {"readonly": True}}, "Did you mean read_only?"),
        ({**GOOD, "options": {"zeta": True}}, "Remove them or correct their spelling."),
    ],
)
def test_a_key_that_is_not_known_is_told_with_the_one_that_was_meant(schema, hint):
    assert hints(plain({"do": schema})) == [hint]


def test_a_keyword_that_is_nearly_one_is_warned_of_in_every_schema_of_a_tool():
    class Hand(BaseTool):
        """Hand-written."""

        input_schema = {"type": "object", "properties": {"p": {"typ": "string"}}}
        output_schema = {"type": "object", "propertys": {}}

        def run(self, arguments, ctx):
            return {}

    assert found(plain({"do": {**GOOD, "properties": {"p": {"minLenght": 1}}}}), Hand) == [
        ("W007", "plain: Action do: properties.p.minLenght is no keyword, so it has no effect."),
        ("W007", "hand: input_schema: properties.p.typ is no keyword, so it has no effect."),
        ("W007", "hand: output_schema: propertys is no keyword, so it has no effect."),
    ]


@pytest.mark.parametrize("schema", ["Do it", {"description": "Do it", "properties": {}}, 3])
def test_what_action_is_given_without_a_name_is_told_by_a_check(schema):
    class Wrong(Tool):
        """Wrong."""

        @action(schema)
        def do(self, data, ctx):
            return {}

    assert found(Wrong) == [("E021", f"wrong: Action do: its schema is {(schema,)}, not a plain dict.")]
    assert hints(Wrong) == ["Write a dict; @action takes its keys by name, as in @action(description=...)."]


def test_a_wrong_run_action_is_told_once_and_as_such():
    def run_action(self, action, data):
        return {}

    wrong = plain({"do": GOOD, "undo": GOOD}, run_action=run_action)
    assert found(wrong) == [
        ("E009", "plain: run_action cannot be called as a handler: too many positional arguments.")
    ]
    assert hints(wrong) == ["Write it as run_action(self, action, data, ctx)."]


@pytest.mark.django_db
def test_a_member_is_read_without_the_database():
    def title(self):
        from example_project.tracker.models import Project

        return str(Project.objects.count())

    def swallowed(self):
        try:
            return title(self)
        except BaseException:
            return "x"

    expected = [("E006", "plain: title() asks the database; it is read once, before any request.")]
    assert found(plain({}, title=title)) == expected
    assert found(plain({}, title=swallowed)) == expected


def test_an_exception_of_the_author_comes_out_as_itself():
    def title(self):
        raise LookupError("mine")

    with declare.replaced([plain({}, title=title)]), pytest.raises(LookupError, match="mine"):
        check_mcp(None)


def test_members_are_read_once():
    calls = []

    def title(self):
        calls.append(1)
        return f"read {len(calls)}"

    with testing.served(plain({"do": GOOD}, title=title)):
        for _ in range(3):
            testing.run_tool("plain", {"action": "do"})
            assert catalog("default").registrations[0].title == "read 1"


def test_what_is_served_is_what_was_read():
    schema = {"description": "x", "properties": {"p": {"type": "string"}}, "examples": [{"p": "a"}]}
    output = {"type": "object"}
    with testing.served(plain({"do": schema}, output_schema=output)):
        [tool, _] = catalog("default").registrations
        schema["properties"]["p"]["type"] = "integer"
        schema["examples"][0]["p"] = 1
        output["type"] = "array"
        rendered = tool.actions["do"].rendered
    assert (rendered["properties"], rendered["examples"]) == ({"p": {"type": "string"}}, [{"p": "a"}])
    assert tool.output_schema == {"type": "object"}


def test_a_permission_may_be_a_function_of_the_context():
    def only_staff(ctx):
        return ctx.assigns.get("staff", False)

    for permission in (only_staff, staticmethod(only_staff), lambda self, ctx: only_staff(ctx)):
        with testing.served(plain({"do": GOOD}, permission=permission)):
            staff, other = testing.build_context(assigns={"staff": True}), testing.build_context()
            assert catalog("default").view(staff).get("plain") is not None
            assert catalog("default").view(other).get("plain") is None


def test_a_tools_permission_keeps_its_rule():
    assert found(plain({}, permission=3)) == [
        ("E011", "plain: permission 3 is neither a codename nor a callable.")
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "nope"},
            [
                (
                    "E064",
                    "output_schema: type breaks the meta-schema: 'nope' is not valid under any of the given schemas.",
                )
            ],
        ),
        (
            {"$ref": "#/$defs/x"},
            [("E060", 'output_schema: ["$ref"] is #/$defs/x, which leads nowhere in this schema.')],
        ),
        (
            {"$ref": "http://x/y"},
            [("E059", 'output_schema: ["$ref"] is http://x/y; a remote reference is never fetched.')],
        ),
        (
            {"properties": {"p": {"pattern": re.compile("a")}}},
            [
                (
                    "E053",
                    "output_schema: properties.p.pattern is re.compile('a'), a re.Pattern, which JSON cannot carry.",
                )
            ],
        ),
    ],
)
def test_an_output_schema_keeps_the_rules_of_schemas(schema, expected):
    assert found(plain({}, output_schema=schema)) == [(id_, f"plain: {message}") for id_, message in expected]


def test_a_closed_output_schema_has_room_for_what_the_tool_adds():
    def hints(self, action, hint_context):
        return []

    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    assert found(plain({}, output_schema=closed)) == []
    assert found(plain({}, output_schema={"type": "object"}, hints=hints)) == []
    assert found(plain({}, output_schema=closed, hints=hints, action_context=hints)) == [
        ("W002", "plain: output_schema is closed, yet the tool adds hints and context to its answers.")
    ]
    room = {**closed, "properties": {"hints": {}, "context": {}}}
    assert found(plain({}, output_schema=room, hints=hints, action_context=hints)) == []


def test_annotations_and_options_say_the_same():
    destroy = {"do": {**GOOD, "options": {"destructive": True}}}
    assert found(plain(destroy, annotations={"destructiveHint": True})) == []
    assert found(plain(destroy, annotations={"readOnlyHint": True, "destructiveHint": False})) == [
        ("W003", "plain: annotations say readOnlyHint: True, yet action do is declared destructive."),
        ("W003", "plain: annotations say destructiveHint: False, yet action do is declared destructive."),
    ]


def hand(schema, **members):
    def run(self, arguments, ctx):
        return {}

    members = {"name": "hand", "description": "x", "input_schema": schema, "run": run, **members}
    return type("Hand", (BaseTool,), {"__module__": __name__, **members})


def annotated(**schema):
    return {"type": "object", "properties": {"p": schema}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "array"},
            [("E065", 'The root of input_schema must say "type": "object" (MCP server/tools).')],
        ),
        (
            annotated(**{"type": "string", "x-mcp-header": ""}),
            [("E066", "input_schema: p has x-mcp-header '', which is no header token without underscores.")],
        ),
        (
            annotated(**{"type": "string", "x-mcp-header": "A_B"}),
            [
                (
                    "E066",
                    "input_schema: p has x-mcp-header 'A_B', which is no header token without underscores.",
                )
            ],
        ),
        (
            annotated(**{"type": "number", "x-mcp-header": "A"}),
            [("E066", "input_schema: p has x-mcp-header and the type number.")],
        ),
        (
            annotated(**{"type": ["string", "null"], "x-mcp-header": "A"}),
            [("E066", "input_schema: p has x-mcp-header and the type ['string', 'null'].")],
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string", "x-mcp-header": "Region"},
                    "b": {"type": "string", "x-mcp-header": "region"},
                },
            },
            [("E066", "input_schema: b and a have the same x-mcp-header 'region', case ignored.")],
        ),
        (
            annotated(type="array", items={"type": "string", "x-mcp-header": "A"}),
            [
                (
                    "E066",
                    "input_schema: x-mcp-header stands at 1 places that are not reached through properties alone.",
                )
            ],
        ),
    ],
)
def test_a_hand_written_input_schema_keeps_its_rules(schema, expected):
    assert found(hand(schema)) == [(id_, f"hand: {message}") for id_, message in expected]


def test_nested_properties_may_be_mirrored_in_headers():
    schema = annotated(type="object", properties={"q": {"type": "integer", "x-mcp-header": "Deep-One"}})
    with testing.served(hand(schema)):
        [row] = catalog("default").registrations[0].header_rows
    assert (row.path, row.header, row.meta_key, row.type) == (
        ("p", "q"),
        "Mcp-Param-Deep-One",
        "HTTP_MCP_PARAM_DEEP_ONE",
        "integer",
    )


def test_a_hand_written_tools_options_keep_their_rules():
    assert found(hand({"type": "object"}, options={"permission": "a.b", "read_only": 1})) == [
        (
            "E013",
            "hand: unknown options permission; known are read_only, destructive, idempotent, open_world, "
            "background, policy, timeout.",
        ),
        ("E014", "hand: read_only must be True or False; it is 1."),
    ]


def test_settings_are_checked_with_the_tools(settings):
    settings.DJANGO_MCP = {"NAMES": "x"}
    with declare.replaced([plain({"do": GOOD})]):
        [message] = check_mcp(None)
    assert (message.id, message.obj) == ("django_mcp.E070", None)


def test_a_check_names_the_tool_and_where_it_stands():
    class Located(Tool):
        """Located."""

        @action(description="x\ny", properties={})
        def do(self, data, ctx):
            return {}

        def hints(self, action, hint_context):
            return []

        annotations = {"readOnlyHint": True}

    line = inspect.getsourcelines(Located)[1]
    code_line = Located.do.__code__.co_firstlineno
    with declare.replaced([Located, plain({"do": {**GOOD, "related": ["gone"]}})]):
        first, second = check_mcp(None)
    assert first == Error(
        "located: Action do: description holds a newline, which would break the list of actions.",
        hint=f"Keep description to one line; put the rest into notes. ({HERE}:{code_line})",
        obj=Located,
        id="django_mcp.E026",
    )
    assert isinstance(second, Warning)
    assert line < code_line


def test_a_tool_without_source_is_told_without_a_place():
    namespace = {"__name__": "nowhere"}
    exec("from django_mcp import Tool\nclass Ghost(Tool):\n    'x'\n    actions = 3\n", namespace)
    with declare.replaced([namespace["Ghost"]]):
        assert [message.hint for message in check_mcp(None)] == ["Make actions a plain dict."]


def test_a_refusal_carries_the_tool_and_the_callback():
    with declare.replaced([plain({}, title=3)]), pytest.raises(ConfigurationError) as refused:
        catalog("default")
    assert (refused.value.tool, refused.value.callback) == ("plain", "title")
    assert str(refused.value) == "plain: title must be a string or None; it is 3."


def test_a_misconfigured_server_says_so_once_in_the_log(caplog):
    with declare.replaced([plain({}, title=3)]):
        for _ in range(3):
            with pytest.raises(ConfigurationError):
                catalog("default")
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]


def test_register_serves_the_class_it_decorates():
    with declare.replaced([]):
        assert register(Plain) is Plain
        assert declare.declarations() == (Plain,)
