"""A wrong call is refused before its handler runs, and the refusal says how to call instead."""

from __future__ import annotations

import json

import pytest

from django_mcp import Tool, testing

ITEM = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "qty": {"type": "integer", "minimum": 1}},
    "required": ["sku"],
}
CREATE = {
    "description": "Create an order",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "due": {"type": "string", "format": "date"},
        "items": {"type": "array", "items": ITEM},
        "address": {"type": "object", "properties": {"city": {"type": "string"}}},
        "labels": {"type": "object", "additionalProperties": {"type": "object", "properties": {"hue": {}}}},
        "open": {"type": "object", "properties": {"known": {}}, "additionalProperties": True},
        "free": {"type": "object"},
        "none": {"type": "object", "additionalProperties": False},
        "ratio": {"type": "number"},
        "count": {"type": "integer"},
        "note": {"type": ["string", "null"]},
    },
    "required": ["name", "due"],
    "defaults": {"count": 1, "note": "none"},
}
IDENTIFY = {
    "description": "Identify an order",
    "properties": {
        "id": {"type": ["integer", "null"]},
        "name": {"type": "string"},
        "color": {"type": "string"},
    },
    "required_one_of": [["id"], ["name", "color"]],
    "defaults": {"id": 3},
}
BOTH = {
    "description": "Needs both kinds",
    "properties": {"key": {}, "a": {}, "b": {}},
    "required": ["key"],
    "required_one_of": [["a"], ["b"]],
}


class Orders(Tool):
    """Orders of the shop."""

    actions = {
        "create": CREATE,
        "identify": IDENTIFY,
        "both": BOTH,
        "help": {"description": "An action may be called help", "properties": {}},
    }
    ran = []

    def run_action(self, action, data, ctx):
        self.ran.append(action)
        return {"action": action, "data": data}


class Aorders(Orders):
    """Orders, answered by an async handler."""

    async def run_action(self, action, data, ctx):
        self.ran.append(action)
        return {"action": action, "data": data}


@pytest.fixture(autouse=True)
def served():
    with testing.served(Orders, Aorders):
        Orders.ran.clear()
        yield


@pytest.fixture(params=["orders", "aorders"])
def tool(request):
    return request.param


@pytest.fixture
def refused(run):
    """Call a tool, see that a gate refuses, and return the gate's body."""

    def call(tool, arguments):
        result = run(tool, arguments)
        [block] = result["content"]
        assert result["isError"] is True
        assert result["_meta"]["django_mcp.error"] == "invalid_arguments"
        assert result["_meta"]["django_mcp.retryable"] is True
        assert "structuredContent" not in result
        assert Orders.ran == []
        return json.loads(block["text"])

    return call


def create(**data):
    return {"action": "create", "data": {"name": "lamp", "due": "2027-01-31", **data}}


def digest(schema):
    published = {
        "properties": schema["properties"],
        "required": schema.get("required", []),
        "defaults": schema.get("defaults", {}),
    }
    if "required_one_of" in schema:
        published["required_one_of"] = schema["required_one_of"]
    return published


CLOSED_CREATE = {
    **CREATE,
    "properties": {
        **CREATE["properties"],
        "items": {"type": "array", "items": {**ITEM, "additionalProperties": False}},
        "address": {**CREATE["properties"]["address"], "additionalProperties": False},
        "labels": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {"hue": {}},
                "additionalProperties": False,
            },
        },
    },
}


def test_a_stray_argument_is_refused_with_the_arguments_that_exist(refused, tool):
    assert refused(tool, {"actoin": "create", "data": {}}) == {
        "error": "unknown_arguments",
        "message": f"{tool} takes only the arguments action, data; what an action takes goes into data.",
        "unknown": ["actoin"],
        "unknown_count": 1,
        "allowed": ["action", "data"],
        "did_you_mean": {"actoin": "action"},
        "help": f'help {{tool: "{tool}"}}',
    }


def test_of_many_stray_arguments_ten_are_listed_in_order_and_all_are_counted(refused, tool):
    body = refused(tool, {f"x{number:02}": 1 for number in range(12)})
    assert body["unknown"] == [f"x{number:02}" for number in range(10)]
    assert body["unknown_count"] == 12
    assert "did_you_mean" not in body


def test_a_stray_argument_is_told_before_a_wrong_type(refused, tool):
    assert refused(tool, {"action": 1, "zzz": 1})["error"] == "unknown_arguments"


@pytest.mark.parametrize(
    ("data", "sent"),
    [
        ([], "array"),
        ('{"name": "lamp"}', "string"),
        (1, "number"),
        (1.5, "number"),
        (None, "null"),
        (True, "boolean"),
    ],
)
def test_data_that_is_no_object_is_refused_by_name(refused, tool, data, sent):
    assert refused(tool, {"action": "create", "data": data}) == {
        "error": "invalid_argument_types",
        "message": f"data must be of JSON type object, not {sent}.",
        "invalid": {"data": "object"},
        "help": f'help {{tool: "{tool}"}}',
    }


@pytest.mark.parametrize(
    ("action_sent", "sent"), [(1, "number"), (None, "null"), (["create"], "array"), ({}, "object")]
)
def test_an_action_that_is_no_string_is_refused_by_name(refused, tool, action_sent, sent):
    assert refused(tool, {"action": action_sent}) == {
        "error": "invalid_argument_types",
        "message": f"action must be of JSON type string, not {sent}.",
        "invalid": {"action": "string"},
        "help": f'help {{tool: "{tool}"}}',
    }


def test_every_mistyped_argument_is_named(refused, tool):
    assert refused(tool, {"action": 1, "data": 2})["invalid"] == {"action": "string", "data": "object"}


@pytest.mark.parametrize("arguments", [{}, {"data": {}}])
def test_a_missing_action_is_answered_with_the_actions(refused, tool, arguments):
    assert refused(tool, arguments) == {
        "error": "missing_action",
        "message": f"{tool} needs an action; its actions are both, create, help, identify.",
        "valid_actions": ["both", "create", "help", "identify"],
        "help": f'help {{tool: "{tool}"}}',
    }


def test_an_unknown_action_is_answered_with_the_actions_sorted_and_the_nearest(refused, tool):
    assert refused(tool, {"action": "Craete"}) == {
        "error": "unknown_action",
        "message": f"{tool} has no action 'Craete'; its actions are both, create, help, identify.",
        "valid_actions": ["both", "create", "help", "identify"],
        "did_you_mean": {"Craete": "create"},
        "help": f'help {{tool: "{tool}"}}',
    }


def test_an_action_named_help_is_an_ordinary_action(body):
    assert body("orders", {"action": "help"}) == {"action": "help", "data": {}}


def test_a_missing_required_field_is_named_with_what_the_action_takes(refused, tool):
    assert refused(tool, {"action": "create", "data": {"name": "lamp"}}) == {
        "error": "missing_required_fields",
        "message": f"{tool} create needs due in data.",
        "missing": ["due"],
        "action": "create",
        "input_schema": digest(CLOSED_CREATE),
        "help": f'help {{tool: "{tool}", action: "create"}}',
    }


def test_missing_fields_keep_the_order_of_declaration(refused, tool):
    assert refused(tool, {"action": "create"})["missing"] == ["name", "due"]


def test_an_explicit_null_satisfies_required(refused, tool):
    body = refused(tool, create(name=None))
    assert (body["error"], [entry["path"] for entry in body["invalid"]]) == ("invalid_values", ["name"])


def test_a_default_does_not_satisfy_a_group_and_all_groups_are_told(refused, tool):
    assert refused(tool, {"action": "identify", "data": {"name": "x"}}) == {
        "error": "missing_required_group",
        "message": f"{tool} identify needs one of these groups in data, complete: (id) OR (name + color)",
        "required_one_of": [["id"], ["name", "color"]],
        "action": "identify",
        "input_schema": digest(IDENTIFY),
        "help": f'help {{tool: "{tool}", action: "identify"}}',
    }


def test_a_null_counts_as_present_in_a_group(body, tool):
    assert body(tool, {"action": "identify", "data": {"id": None}})["data"] == {"id": None}


def test_missing_required_fields_are_told_before_a_missing_group_and_show_the_groups(refused, tool):
    body = refused(tool, {"action": "both"})
    assert (body["error"], body["missing"]) == ("missing_required_fields", ["key"])
    assert body["input_schema"]["required_one_of"] == [["a"], ["b"]]


def test_an_unknown_key_is_refused_with_the_keys_that_exist(refused, tool):
    assert refused(tool, create(nmae="x")) == {
        "error": "unknown_params",
        "message": f"{tool} create does not know a key in data.",
        "unknown": ["nmae"],
        "unknown_count": 1,
        "allowed": {"": sorted(CREATE["properties"])},
        "did_you_mean": {"nmae": "name"},
        "action": "create",
        "input_schema": digest(CLOSED_CREATE),
        "help": f'help {{tool: "{tool}", action: "create"}}',
    }


def test_unknown_keys_are_found_at_every_depth_and_told_together(refused, tool):
    body = refused(
        tool,
        create(
            address={"city": "Bern", "zip": "3000"},
            items=[{"sku": "a"}, {"sku": "b", "qyt": 1}],
            labels={"any": {"heu": 1}},
            none={"odd key": 1},
            zzz=1,
        ),
    )
    assert body["unknown"] == ["address.zip", "items[1].qyt", "labels.any.heu", 'none["odd key"]', "zzz"]
    assert body["unknown_count"] == 5
    assert body["allowed"] == {
        "": sorted(CREATE["properties"]),
        "address": ["city"],
        "items[1]": ["qty", "sku"],
        "labels.any": ["hue"],
        "none": [],
    }
    assert body["did_you_mean"] == {"qyt": "qty", "heu": "hue"}


def test_open_and_free_form_objects_take_any_key(body, tool):
    data = {"open": {"known": 1, "other": 2}, "free": {"any": 3}, "labels": {"any": {"hue": 4}}}
    assert body(tool, create(**data))["data"].items() >= data.items()


def test_of_many_unknown_keys_ten_are_listed_and_all_are_counted(refused, tool):
    body = refused(tool, create(**{f"x{number:02}": 1 for number in range(30)}))
    assert body["unknown"] == [f"x{number:02}" for number in range(10)]
    assert body["unknown_count"] == 30


def test_a_wrong_value_is_refused_with_its_path_and_the_problem(refused, tool):
    body = refused(tool, create(items=[{"sku": "a"}, {"sku": "b", "qty": 0}], due="soon"))
    assert [entry["path"] for entry in body["invalid"]] == ["due", "items[1].qty"]
    assert all(entry["problems"] for entry in body["invalid"])
    assert {key: body[key] for key in ("error", "invalid_count", "action", "input_schema", "help")} == {
        "error": "invalid_values",
        "invalid_count": 2,
        "action": "create",
        "input_schema": digest(CLOSED_CREATE),
        "help": f'help {{tool: "{tool}", action: "create"}}',
    }


@pytest.mark.parametrize(
    "data",
    [{"name": 1}, {"name": None}, {"name": "x"}, {"due": "2027-02-30"}, {"count": True}, {"count": "1"}],
)
def test_types_formats_and_bounds_are_enforced(refused, tool, data):
    body = refused(tool, create(**data))
    assert (body["error"], [entry["path"] for entry in body["invalid"]]) == ("invalid_values", list(data))


def test_of_many_wrong_values_ten_are_listed_and_all_are_counted(refused, tool):
    body = refused(tool, create(items=[{"sku": number} for number in range(25)]))
    assert [entry["path"] for entry in body["invalid"]] == sorted(f"items[{n}].sku" for n in range(25))[:10]
    assert body["invalid_count"] == 25


def test_no_value_that_was_sent_stands_in_a_problem(refused, tool):
    body = refused(
        tool, create(name=["s3cret"], due="s3cret", items="s3cret", address={"city": {"s3cret": 1}})
    )
    assert "s3cret" not in json.dumps(body)


def test_an_unknown_key_is_told_before_a_wrong_value(refused, tool):
    assert refused(tool, create(count="x", zzz=1))["error"] == "unknown_params"


def test_a_whole_float_reaches_the_handler_as_an_integer(body, tool):
    data = body(tool, create(count=2.0, items=[{"sku": "a", "qty": 3.0}], ratio=2.0))["data"]
    assert (repr(data["count"]), repr(data["items"][0]["qty"]), repr(data["ratio"])) == ("2", "3", "2.0")


def test_defaults_fill_what_was_left_out_and_leave_a_null_alone(body, tool):
    assert body(tool, create(note=None))["data"] == {
        "name": "lamp",
        "due": "2027-01-31",
        "count": 1,
        "note": None,
    }


def test_defaults_are_the_same_for_every_call(run):
    class Careless(Tool):
        """Changes what it is given."""

        actions = {"do": {"description": "x", "properties": {"labels": {}}, "defaults": {"labels": ["a"]}}}

        def run_action(self, action, data, ctx):
            data["labels"].append("b")
            return data["labels"]

    with testing.served(Careless):
        answers = [run("careless", {"action": "do"})["content"][0]["text"] for _ in range(2)]
    assert answers == ['["a","b"]', '["a","b"]']


@pytest.mark.parametrize("sent", ["x" * 200, "x" * 201, "x" * 100_000])
def test_what_a_refusal_quotes_is_bounded(refused, tool, sent):
    shown = sent if len(sent) <= 200 else f"{'x' * 200}…"
    for arguments, key in (
        ({sent: 1}, "unknown"),
        (create(**{sent: 1}), "unknown"),
    ):
        [quoted] = refused(tool, arguments)[key]
        assert quoted == sent if len(sent) <= 200 else quoted.startswith(shown) and str(len(sent)) in quoted
    assert len(json.dumps(refused(tool, {"action": sent})["message"])) < 600


def test_a_bulk_call_with_one_wrong_item_is_refused_whole(refused, tool):
    items = [{"sku": f"s{number}", "qty": 1} for number in range(50)]
    assert refused(tool, create(items=[*items, {"sku": "last", "qty": 0}]))["error"] == "invalid_values"


def test_only_refusals_of_data_carry_what_the_action_takes(refused, tool):
    assert "input_schema" not in refused(tool, {"zzz": 1})
    assert "input_schema" not in refused(tool, {"action": 1})
    assert "input_schema" not in refused(tool, {})
    assert "input_schema" not in refused(tool, {"action": "zzz"})
    assert "required_one_of" not in refused(tool, create(zzz=1))["input_schema"]


HOSTILE = {
    "many wrong items": {"items": list(range(20_000))},
    "many unknown keys": {"none": {f"k{number}": 1 for number in range(20_000)}},
    "one enormous key": {"k" * 1_000_000: 1},
    "an enormous wrong value": {"count": "x" * 1_000_000},
    "deep data": None,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_is_sent_the_refusal_stays_small(refused, kind):
    data = HOSTILE[kind]
    if data is None:
        inner = data = {}
        for _ in range(150):
            inner["zzz"] = {}
            inner = inner["zzz"]
    body = refused("orders", create(**data))
    assert body["error"] in ("unknown_params", "invalid_values")
    assert len(json.dumps({**body, "input_schema": None})) < 10_000


def lame(value):
    raise LookupError(f"no list to look {value} up in")


def test_a_bug_in_a_format_of_the_sites_is_a_contained_fault(run, settings):
    class Lame(Tool):
        """Has a format whose check fails."""

        actions = {"do": {"description": "x", "properties": {"p": {"format": "lame"}}}}

        def run_action(self, action, data, ctx):
            raise AssertionError("not to be run")

    settings.DJANGO_MCP = {"FORMATS": {"lame": lame}, "EXPOSE_FAULTS": True}
    with testing.served(Lame):
        result = run("lame", {"action": "do", "data": {"p": "x"}})
    assert json.loads(result["content"][0]["text"]) == {
        "errorType": "tool_fault",
        "tool": "lame",
        "exception": "LookupError",
        "message": "no list to look x up in",
    }
    assert (result["isError"], result["_meta"]) == (
        True,
        {"django_mcp.error": "error", "django_mcp.retryable": False},
    )
