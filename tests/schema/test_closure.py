"""Which objects are closed: what is published is what is enforced."""

from __future__ import annotations

import copy

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.schema.closure import Closure, UnknownKey


def unknown(properties, data):
    return [(key.path, key.key, key.parent, key.allowed) for key in Closure.of(properties).unknown(data)]


CLOSED = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("declared", "published"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": "object"}, {"type": "object"}),
        ({"properties": {"a": {}}}, {"properties": {"a": {}}, "additionalProperties": False}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        (
            {"properties": {"a": {}}, "additionalProperties": True},
            {"properties": {"a": {}}, "additionalProperties": True},
        ),
        (
            {"properties": {"a": {}}, "additionalProperties": {"properties": {"b": {}}}},
            {
                "properties": {"a": {}},
                "additionalProperties": {"properties": {"b": {}}, "additionalProperties": False},
            },
        ),
        ({"items": {"type": "object", "properties": {"a": {}}}}, {"items": CLOSED}),
        (
            {"prefixItems": [{"type": "object", "properties": {"a": {}}}, True]},
            {"prefixItems": [CLOSED, True]},
        ),
        (
            {"patternProperties": {"^x": {"type": "object", "properties": {"a": {}}}}},
            {"patternProperties": {"^x": CLOSED}},
        ),
        ({"anyOf": [{"properties": {"a": {}}}]}, {"anyOf": [{"properties": {"a": {}}}]}),
        (
            {
                "$ref": "#/properties/p/$defs/d",
                "$defs": {"d": {"type": "object", "properties": {"a": {}}}, "e": {"properties": {}}},
            },
            {"$ref": "#/properties/p/$defs/d", "$defs": {"d": CLOSED, "e": {"properties": {}}}},
        ),
        (
            {"properties": {"a": {}}, "unevaluatedProperties": False},
            {"properties": {"a": {}}, "unevaluatedProperties": False},
        ),
        (True, True),
    ],
)
def test_a_closed_object_is_published_closed(declared, published):
    before = copy.deepcopy(declared)
    closure = Closure.of({"p": declared})
    assert closure.properties == {"p": published}
    assert closure.schema == {
        "type": "object",
        "properties": {"p": published},
        "additionalProperties": False,
    }
    assert declared == before


def test_one_schema_written_at_two_places_is_closed_only_where_closure_leads():
    shared = {"type": "object", "properties": {"a": {}}}
    closure = Closure.of({"p": shared, "q": {"anyOf": [shared, {"const": shared}]}})
    assert closure.properties == {"p": CLOSED, "q": {"anyOf": [shared, {"const": shared}]}}


def test_a_key_that_several_schemas_refuse_is_told_once_with_the_names_they_share():
    properties = {
        "p": {
            "properties": {"xa": {"properties": {"k": {}, "m": {}}}},
            "patternProperties": {"^x": {"properties": {"k": {}, "n": {}}}},
        }
    }
    assert unknown(properties, {"p": {"xa": {"z": 1}}}) == [("p.xa.z", "z", "p.xa", ("k",))]


def test_a_key_the_root_does_not_declare_is_unknown():
    assert Closure.of({"b": {}, "a": {}}).unknown({"a": 1, "z": 2}) == [UnknownKey("z", "z", "", ("a", "b"))]


NODE = {"type": "object", "properties": {"next": {"$ref": "#/properties/p"}, "name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ({"properties": {"a": {}}}, {"b": 1}, [("p.b", "b", "p", ("a",))]),
        ({"properties": {"a": {}}}, "no object", []),
        ({"properties": {"a": {"properties": {}}}}, {"a": {"b": 1}}, [("p.a.b", "b", "p.a", ())]),
        (
            {"items": {"properties": {"a": {}}}},
            [{"a": 1}, {"odd key": 1}],
            [('p[1]["odd key"]', "odd key", "p[1]", ("a",))],
        ),
        (
            {"prefixItems": [{"properties": {}}, True]},
            [{"x": 1}, {"y": 1}, {"z": 1}],
            [("p[0].x", "x", "p[0]", ())],
        ),
        (
            {"prefixItems": [True], "items": {"properties": {}}},
            [{"x": 1}, {"y": 1}],
            [("p[1].y", "y", "p[1]", ())],
        ),
        (
            {"additionalProperties": {"properties": {"a": {}}}},
            {"k": {"b": 1}},
            [("p.k.b", "b", "p.k", ("a",))],
        ),
        (
            {"patternProperties": {"^x": {}}, "additionalProperties": False},
            {"x1": 1, "y": 1},
            [("p.y", "y", "p", ())],
        ),
        (
            {
                "properties": {"xa": {"properties": {}}},
                "patternProperties": {"^x": {"properties": {"k": {}}}},
            },
            {"xa": {"k": 1}, "xb": {"k": 1}},
            [("p.xa.k", "k", "p.xa", ())],
        ),
        ({"type": "object"}, {"any": {"thing": 1}}, []),
        ({"anyOf": [{"properties": {"a": {}}}]}, {"b": 1}, []),
        (
            NODE,
            {"next": {"next": {"nmae": 1}}},
            [("p.next.next.nmae", "nmae", "p.next.next", ("name", "next"))],
        ),
        ({"properties": {"a": False}}, {"a": {"b": 1}}, []),
    ],
)
def test_unknown_keys_are_found_at_every_depth(declared, value, expected):
    assert unknown({"p": declared}, {"p": value}) == expected


def test_very_deep_data_is_walked():
    data = value = {}
    for _ in range(5000):
        value["next"] = {}
        value = value["next"]
    value["zzz"] = 1
    [(path, key, _, allowed)] = unknown({"p": NODE}, {"p": data})
    assert (key, allowed, path.count(".")) == ("zzz", ("name", "next"), 5001)


#: What a value is held to besides the keywords that stand beside the reference.
BESIDE = {
    "$ref": "#/properties/p/$defs/d",
    "$defs": {
        "d": {
            "properties": {"b": {"type": "integer"}},
            "items": {"type": "integer"},
            "additionalProperties": True,
        }
    },
}


@pytest.mark.parametrize(
    ("schema", "sent", "kept"),
    [
        ({"type": "integer"}, 2.0, 2),
        ({"type": "integer"}, 1e20, 10**20),
        ({"type": ["integer", "null"]}, 2.0, 2),
        ({"type": ["integer", "number"]}, 2.0, 2.0),
        ({"type": "number"}, 2.0, 2.0),
        ({"type": "integer"}, True, True),
        ({"type": "integer"}, "2.0", "2.0"),
        ({"items": {"type": "integer"}}, [1, 2.0, 2.5], [1, 2, 2.5]),
        (
            {"prefixItems": [{"type": "integer"}, {}], "items": {"type": "integer"}},
            [1.0, 1.0, 1.0],
            [1, 1.0, 1],
        ),
        ({"prefixItems": [{"type": "integer"}]}, [1.0, 1.0], [1, 1.0]),
        ({"properties": {"a": {"type": "integer"}, "b": {}}}, {"a": 1.0, "b": 1.0}, {"a": 1, "b": 1.0}),
        ({"additionalProperties": {"type": "integer"}}, {"k": 1.0}, {"k": 1}),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n": 1.0, "m": 1.0}, {"n": 1, "m": 1.0}),
        (
            {"properties": {"n": {"type": "integer"}}, "patternProperties": {"^n": {"type": "integer"}}},
            {"n": 1.0},
            {"n": 1},
        ),
        ({"$ref": "#/properties/p/$defs/d", "$defs": {"d": {"type": "integer"}}}, 1.0, 1),
        (
            {**BESIDE, "properties": {"a": {"type": "integer"}}},
            {"a": 1.0, "b": 1.0, "c": 1.0},
            {"a": 1, "b": 1, "c": 1.0},
        ),
        ({**BESIDE, "prefixItems": [{"type": "integer"}]}, [1.0, 1.0, 1.5], [1, 1, 1.5]),
        ({**BESIDE, "items": {"type": "number"}}, [2, {"b": 1.0}, "x"], [2, {"b": 1.0}, "x"]),
        (
            {
                "$ref": "#/properties/p/$defs/d",
                "type": "integer",
                "$defs": {"d": {"type": "integer", "minimum": 0}},
            },
            1.0,
            1,
        ),
        ({"patternProperties": {"^n": {"type": ["integer", "string"]}}}, {"n": "2.0"}, {"n": "2.0"}),
        ({"anyOf": [{"type": "integer"}]}, 1.0, 1.0),
        ({"type": "object", "allOf": [{"properties": {"n": {"type": "integer"}}}]}, {"n": 1.0}, {"n": 1.0}),
        ({"type": "integer"}, float("inf"), float("inf")),
        ({"items": {"$ref": "#here"}, "$defs": {"d": {"$anchor": "here", "type": "integer"}}}, [1.0], [1]),
        (
            {"properties": {"next": {"$ref": "#/properties/p"}, "n": {"type": "integer"}}},
            {"next": {"n": 1.0}},
            {"next": {"n": 1}},
        ),
    ],
)
def test_whole_floats_become_integers_where_the_schema_says_integer(schema, sent, kept):
    before = copy.deepcopy(sent)
    converted = Closure.of({"p": schema}).integers({"p": sent})["p"]
    assert repr(converted) == repr(kept)
    assert repr(sent) == repr(before)


def test_data_in_which_nothing_changes_is_not_copied():
    closure = Closure.of({"p": {"items": {"properties": {"n": {"type": "integer"}}}}, "q": {}})
    data = {"p": [{"n": 1}, {"n": 2}], "q": [1.0]}
    assert closure.integers(data) is data
    changed = closure.integers({"p": [{"n": 1.0}], "q": data["q"]})
    assert changed["q"] is data["q"]
    no_integers = Closure.of({"p": {}})
    assert no_integers.integers(data) is data


INTEGER = {"type": "integer"}
AGAIN = {"$ref": "#/properties/p"}


@pytest.mark.parametrize(
    "properties",
    [
        {"p": {"properties": {"next": AGAIN, "n": INTEGER}, "patternProperties": {"^next": AGAIN}}},
        {
            "p": {"$ref": "#/properties/q", "properties": {"next": AGAIN, "n": INTEGER}},
            "q": {"properties": {"next": AGAIN, "n": INTEGER}},
        },
        {"p": {"properties": {"next": AGAIN, "n": INTEGER}, "additionalProperties": INTEGER}},
        {"p": {"patternProperties": {"^n": {}, "next": AGAIN, "ext": AGAIN, "^n$": INTEGER}}},
    ],
)
def test_what_judges_a_value_twice_does_not_do_so_with_every_level(properties):
    """The work would double with every level: neither walk would ever end."""
    closure = Closure.of(properties)
    sent, expected = {"n": 1.0, "zzz": {}}, {"n": 1, "zzz": {}}
    for _ in range(150):
        sent, expected = {"next": sent}, {"next": expected}
    assert repr(closure.integers({"p": sent})) == repr({"p": expected})
    is_closed = "additionalProperties" not in properties["p"] and "properties" in properties["p"]
    assert [key.key for key in closure.unknown({"p": sent})] == ["zzz"] * is_closed


def test_numbers_are_found_as_deep_as_the_decoder_lets_data_be():
    closure = Closure.of({"p": {"type": ["array", "integer"], "items": {"$ref": "#/properties/p"}}})
    sent, expected = 1.0, 1
    for _ in range(300):
        sent, expected = [sent], [expected]
    assert repr(closure.integers({"p": sent})) == repr({"p": expected})


NAMES = st.sampled_from(["a", "b", "xa", "odd key"])
SCHEMAS = st.recursive(
    st.sampled_from([{}, True, {"type": "string"}, {"type": "object"}, {"additionalProperties": False}]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "$ref": st.sampled_from(["#/properties/a", "#/properties/b"]),
        },
    ),
    max_leaves=8,
)
DATA = st.recursive(
    st.sampled_from([1, "x", None]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=10,
)


def only_keys(schema):
    """The schema without everything but the keywords that closure follows and enforces."""
    if not isinstance(schema, dict):
        return True
    return {
        key: {name: only_keys(inner) for name, inner in value.items()}
        if key in ("properties", "patternProperties")
        else [only_keys(inner) for inner in value]
        if key == "prefixItems"
        else value
        if key == "$ref" or value is False
        else only_keys(value)
        for key, value in schema.items()
        if key != "type" and not (key == "items" and value is False)
    }


@given(st.fixed_dictionaries({"a": SCHEMAS, "b": SCHEMAS}), DATA)
def test_the_closure_that_is_published_is_the_closure_that_is_enforced(properties, value):
    """The keys the walk refuses are those the published schema refuses, by the judgement of another library."""
    if any(reference_loop(properties, name) for name in properties):
        return
    closure = Closure.of(properties)
    data = {"a": value}
    oracle = jsonschema.Draft202012Validator(only_keys(closure.schema))
    refused = set()
    for error in oracle.iter_errors(data):
        if error.validator == "additionalProperties":
            known = error.schema.get("properties", {})
            patterned = bool(error.schema.get("patternProperties"))
            refused |= {
                (*error.absolute_path, key)
                for key in error.instance
                if key not in known and not (patterned and key.startswith("x"))
            }
    found = closure.unknown(data)
    assert len({key.path for key in found}) == len(refused)
    assert {key.key for key in found} == {keys[-1] for keys in refused}


def reference_loop(properties, name, seen=()):
    """Whether a property is nothing but references that lead back to it, which means nothing to any validator."""
    schema = properties[name]
    if not isinstance(schema, dict) or "$ref" not in schema:
        return False
    target = schema["$ref"].rsplit("/", 1)[1]
    return target in (*seen, name) or reference_loop(properties, target, (*seen, name))


NUMBERS = st.recursive(
    st.sampled_from([{}, {"type": "integer"}, {"type": "number"}, {"type": ["integer", "null"]}]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=2),
            "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
        },
    ),
    max_leaves=6,
)
NUMERIC_DATA = st.recursive(
    st.sampled_from([1, 1.0, 1.5, -0.0, 1e300, float("inf"), True, None, "2.0"]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def places_of_integers(schema, value, path=()):
    """Where the schema says integer, by a plain reading of it, without composition."""
    if not isinstance(schema, dict):
        return
    listed = schema.get("type") if isinstance(schema.get("type"), list) else [schema.get("type")]
    if "integer" in listed and "number" not in listed:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            named = [schema["properties"][key]] if key in schema.get("properties", {}) else []
            named += [one for _, one in schema.get("patternProperties", {}).items() if key.startswith("x")]
            for one in named or [schema.get("additionalProperties")]:
                yield from places_of_integers(one, inner, (*path, key))
    if isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        for index, inner in enumerate(value):
            one = prefix[index] if index < len(prefix) else schema.get("items")
            yield from places_of_integers(one, inner, (*path, index))


def leaves(value, path=()):
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if inner is None:
        yield path, value
    else:
        for key, one in inner:
            yield from leaves(one, (*path, key))


@given(NUMBERS, NUMERIC_DATA)
def test_nothing_changes_but_whole_floats_where_the_schema_says_integer(schema, value):
    data = {"p": value}
    before = repr(data)
    converted = Closure.of({"p": schema}).integers(data)
    wanted = set(places_of_integers({"properties": {"p": schema}}, data))
    expected = {
        path: repr(int(leaf) if path in wanted and type(leaf) is float and leaf.is_integer() else leaf)
        for path, leaf in leaves(data)
    }
    assert {path: repr(leaf) for path, leaf in leaves(converted)} == expected
    assert repr(data) == before
    assert (converted is data) is (repr(converted) == before)
