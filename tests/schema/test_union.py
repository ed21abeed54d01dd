"""One schema for the results of several tools."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from django_mcp.schema import union

TEXT = {"type": "string"}
NODE = {
    "type": "object",
    "properties": {
        "child": {"$ref": "#/$defs/Node"},
        "again": {"$ref": "#"},
        "size": {"$ref": "#/properties/n"},
        "n": {"type": "integer"},
    },
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
        }
    },
}


def accepts(schema, value):
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(value)


def test_one_is_itself_under_result():
    assert union.results({"a": TEXT}) == {
        "type": "object",
        "properties": {"result": TEXT},
        "required": ["result"],
    }


def test_equal_ones_count_once():
    assert union.results({"a": TEXT, "b": TEXT}) == union.results({"a": TEXT})


def test_those_that_exclude_each_other_are_one_of():
    schema = union.results({"a": TEXT, "b": {"type": ["object", "null"]}, "c": {"type": "integer"}})

    assert list(schema["properties"]["result"]) == ["oneOf"]
    assert [accepts(schema, {"result": value}) for value in ("x", {}, 1, [])] == [True, True, True, False]


@pytest.mark.parametrize("other", [{"type": "integer"}, {"enum": [1]}, {"type": ["number", "string"]}])
def test_those_that_may_overlap_are_any_of(other):
    schema = union.results({"a": {"type": "number"}, "b": other})

    assert list(schema["properties"]["result"]) == ["anyOf"]
    assert accepts(schema, {"result": 1})


def test_one_that_may_be_anything_makes_it_all_anything():
    assert union.results({"a": TEXT, "b": {}})["properties"] == {"result": {}}


def test_definitions_of_one_keep_their_names_and_references_find_their_way():
    schema = union.results({"a": NODE})

    assert list(schema["$defs"]) == ["Node"]
    assert accepts(schema, {"result": {"child": {"next": {"next": None}}, "again": {"n": 1}, "size": 2}})
    assert not accepts(schema, {"result": {"again": {"n": "1"}}})
    assert not accepts(schema, {"result": {"size": "2"}})
    assert not accepts(schema, {"result": {"child": {"next": 1}}})


def test_definitions_of_several_carry_the_name_of_their_tool():
    other = {"type": "array", "items": {"$ref": "#/$defs/Node"}, "$defs": {"Node": {"type": "integer"}}}
    anchored = {"type": "null", "$anchor": "here", "not": {"$ref": "#here", "items": True}}
    schema = union.results({"a": NODE, "b": other, "c": anchored})

    assert list(schema["$defs"]) == ["a.Node", "b.Node"]
    assert accepts(schema, {"result": [1, 2]})
    assert not accepts(schema, {"result": ["1"]})
    assert accepts(schema, {"result": {"again": {"child": {}}}})
    assert not accepts(schema, {"result": {"again": {"child": {"next": 3}}}})
    assert schema["properties"]["result"]["oneOf"][2]["not"]["$ref"] == "#_c.here"


@pytest.mark.parametrize(
    "reference", ["#/$defs/a~1 b", "#/%24defs/a~1%20b", "#/%24%64efs/a~1 b", "#/properties/again"]
)
def test_a_reference_is_found_however_it_is_written(reference):
    holding = {
        "type": "object",
        "properties": {"v": {"$ref": reference}, "again": {"type": "integer"}},
        "$defs": {"a/ b": {"type": "integer"}},
    }
    for schema in (union.results({"a": holding, "b": TEXT}), union.results({"a": holding})):
        assert accepts(schema, {"result": {"v": 1}})
        assert not accepts(schema, {"result": {"v": "1"}})


@pytest.mark.parametrize("reference", ["$ref", "$dynamicRef"])
@pytest.mark.parametrize("anchor", ["$anchor", "$dynamicAnchor"])
def test_anchors_of_the_same_name_are_each_their_tool_s(reference, anchor):
    def holding(kind):
        return {
            "type": "object",
            "properties": {kind: {reference: "#here"}},
            "required": [kind],
            "$defs": {"X": {anchor: "here", "type": kind}},
        }

    schema = union.results({"1": holding("string"), "-": holding("integer")})

    assert accepts(schema, {"result": {"string": "x"}})
    assert accepts(schema, {"result": {"integer": 1}})
    assert not accepts(schema, {"result": {"integer": "x"}})
    assert accepts(union.results({"1": holding("string")}), {"result": {"string": "x"}})


@pytest.mark.parametrize("others", [{}, {"b": {"type": "string"}}, {"b": {"type": "object"}}])
def test_what_a_schema_calls_itself_does_not_part_it_from_its_definitions(others):
    schema = union.results({"a": {**NODE, "$id": "https://example.org/node"}, **others})

    assert accepts(schema, {"result": {"child": {"next": {"next": None}}, "again": {"n": 1}}})
    receipt = union.or_receipt({**NODE, "$id": "https://example.org/node"})
    assert accepts(receipt, {"child": {"next": None}})


def test_an_answer_or_a_receipt():
    schema = union.or_receipt(NODE)

    assert accepts(schema, {"task_id": "1"})
    assert accepts(schema, {"again": {"n": 1}})
    assert not accepts(schema, {"again": {"n": "1"}})
    assert "$defs" not in union.or_receipt({"type": "object"})
