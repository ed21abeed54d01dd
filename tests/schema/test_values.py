"""The value gate: what is wrong, where, and nothing of what was sent."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.schema.explain import briefly, explaining
from django_mcp.schema.formats import Formats
from django_mcp.schema.values import SchemaError, ValueGate
from tests.schema.test_explain import RECURSIVE, TANGLED

NO_FORMATS = Formats.of({})


def problems(schema, value):
    return ValueGate(schema, NO_FORMATS).problems(value)


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"type": "integer"}, "x", "must be of type integer"),
        ({"type": ["string", "null"]}, 1, "must be of type null or string"),
        ({"enum": [1, "a", None]}, 2, 'must be one of 1, "a", null'),
        (
            {"enum": list(range(30))},
            99,
            f"must be one of {', '.join(map(str, range(20)))} and 10 more",
        ),
        ({"const": {"a": 1}}, 2, 'must be {"a": 1}'),
        ({"format": "date"}, "x", "must be a valid date, such as 2027-01-31"),
        (
            {"format": "date-time"},
            "2027-01-31T13:30",
            "must be a valid date-time, such as 2027-01-31T13:30:00Z",
        ),
        ({"format": "email"}, "x", "must be a valid email"),
        ({"pattern": "^a"}, "b", "must match the pattern ^a"),
        ({"minLength": 1}, "", "must have at least 1 character"),
        ({"minLength": 2}, "", "must have at least 2 characters"),
        ({"maxLength": 1}, "xx", "must have at most 1 character"),
        ({"minimum": 1.5}, 1, "must be at least 1.5"),
        ({"maximum": 3}, 4, "must be at most 3"),
        ({"exclusiveMinimum": 3}, 3, "must be greater than 3"),
        ({"exclusiveMaximum": 3}, 3, "must be less than 3"),
        ({"multipleOf": 5}, 3, "must be a multiple of 5"),
        ({"minItems": 2}, [], "must have at least 2 items"),
        ({"maxItems": 1}, [1, 2], "must have at most 1 item"),
        ({"uniqueItems": True}, [1, 1], "must not hold the same item twice"),
        (
            {"contains": {"type": "string"}},
            [1],
            'must hold an item that matches {"type": "string"}',
        ),
        (
            {"contains": {"type": "string"}, "maxContains": 1},
            ["a", "b"],
            'must hold at most 1 item matching {"type": "string"}',
        ),
        (
            {"contains": {"type": "string"}, "minContains": 2},
            ["a"],
            'must hold at least 2 items matching {"type": "string"}',
        ),
        ({"minProperties": 1}, {}, "must have at least 1 property"),
        ({"maxProperties": 2}, {"a": 1, "b": 1, "c": 1}, "must have at most 2 properties"),
        ({"required": ["name"]}, {}, 'lacks the required key "name"'),
        (
            {"dependentRequired": {"a": ["b"], "c": ["d"]}},
            {"a": 1},
            'lacks the key "b", which must come with "a"',
        ),
        (
            {"dependentRequired": {"a": ["b"], "c": ["b"]}},
            {"a": 1},
            'lacks the key "b", which must come with "a" or "c"',
        ),
        (
            {"dependentSchemas": {"a": {"required": ["b"]}}},
            {"a": 1},
            'lacks the required key "b" (since "a" is sent)',
        ),
        ({"dependencies": {"a": {"maxProperties": 0}}}, {"a": 1}, "must have at most 0 properties"),
        ({"additionalProperties": False}, {"s3cret": 1}, "must not have any keys"),
        (
            {"additionalProperties": False, "properties": {"b": {}, "a": {}}},
            {"s3cret": 1},
            'has keys other than "a", "b"',
        ),
        (
            {
                "additionalProperties": False,
                "properties": {"a": {}},
                "patternProperties": {"^x": {}, "^y": {}},
            },
            {"s3cret": 1},
            'has keys other than "a" and those that match ^x and those that match ^y',
        ),
        (
            {"unevaluatedProperties": {"type": "null"}},
            {"s3cret": 1},
            "has keys that the schema does not allow",
        ),
        ({"unevaluatedProperties": False}, {"s3cret": 1}, "has keys that the schema does not allow"),
        ({"unevaluatedItems": False}, [1], "has items that the schema does not allow"),
        (
            {"propertyNames": {"maxLength": 2}},
            {"s3cret": 1},
            "has a key whose name must have at most 2 characters",
        ),
        ({"propertyNames": False}, {"s3cret": 1}, "must not have any keys"),
        (
            {
                "propertyNames": {
                    "anyOf": [{"pattern": "^a"}, {"if": {"maxLength": 1}, "else": {"maxLength": 2}}]
                }
            },
            {"s3cret": 1},
            "has a key whose name must satisfy one of: must match the pattern ^a; "
            'or must have at most 2 characters (since it does not match {"maxLength": 1})',
        ),
        (False, 1, "must not be sent"),
        ({"not": {"type": "string"}}, "x", 'must not match {"type": "string"}'),
        (
            {"if": {"type": "string"}, "then": {"minLength": 3}},
            "b",
            'must have at least 3 characters (since it matches {"type": "string"})',
        ),
        (
            {"if": {"type": "string"}, "else": False},
            1,
            'must not be sent (since it does not match {"type": "string"})',
        ),
        (
            {"if": {"type": "string"}, "then": {"if": {"pattern": "^b"}, "then": {"minLength": 3}}},
            "b",
            'must have at least 3 characters (since it matches {"type": "string"} and it matches {"pattern": "^b"})',
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 3}]},
            "x",
            "must satisfy one of: must be of type integer; or must have at least 3 characters",
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "null"}]},
            "x",
            "must satisfy one of: must be of type integer; or must be of type null",
        ),
        (
            {"oneOf": [{"type": "string"}, {"minLength": 1}]},
            "x",
            "must match exactly one of the alternatives, and matches several",
        ),
        (
            {"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["b"]}, {"type": "null"}]},
            {"a": "x"},
            'must satisfy one of: lacks the required key "b" and a must be of type integer; '
            "or must be of type null",
        ),
        (
            {"anyOf": [{"const": number} for number in range(8)]},
            "x",
            "must satisfy one of: must be 0; or must be 1; or must be 2; or must be 3; or must be 4; or 3 more",
        ),
        ({"pattern": "^(?=x)(a+)+$"}, f"x{'a' * 60}!", "must match the pattern ^(?=x)(a+)+$"),
    ],
)
def test_each_keyword_says_what_would_be_right(schema, value, told):
    assert problems(schema, value) == ([("", [told])], 1)


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        (
            {"anyOf": [{"type": "integer"}, {"properties": {"a": {"items": {"type": "string"}}}}]},
            {"a": ["x", 1]},
            "must satisfy one of: must be of type integer; or a[1] must be of type string",
        ),
        (
            {"anyOf": [{"additionalProperties": {"type": "integer"}}, {"type": "null"}]},
            {"s3cret": "x"},
            "must satisfy one of: inside it, must be of type integer; or must be of type null",
        ),
        (
            {"anyOf": [{"oneOf": [{"const": 1}, {"const": 2}]}, {"type": "null"}]},
            "x",
            "must satisfy one of: must match one of 2 alternatives; or must be of type null",
        ),
        (
            {"if": {}, "then": {"anyOf": [{"if": {}, "then": {"const": 1}}]}},
            2,
            "must satisfy one of: must be 1 (since it matches {}) (since it matches {})",
        ),
    ],
)
def test_alternatives_are_told_wherever_they_stand(schema, value, told):
    assert problems({"properties": {"p": {"items": schema}}}, {"p": [value]}) == ([("p[0]", [told])], 1)


def test_a_reference_into_an_alternative_loses_no_more_than_where_it_is():
    """The validator then says of nothing in that alternative how it came there."""
    amount = {"type": "integer", "minimum": 3, "if": {"minimum": 1}, "else": False}
    schema = {
        "$defs": {
            "amount": amount,
            "price": {"anyOf": [{"type": "null"}, {"properties": {"is": {"$ref": "#/$defs/amount"}}}]},
        },
        "properties": {"a": {"$ref": "#/$defs/price/anyOf/1"}, "b": {"$ref": "#/$defs/price"}},
    }
    assert problems(schema, {"b": {"is": 0}}) == (
        [
            (
                "b",
                [
                    "must satisfy one of: must be of type null; or inside it, must be at least 3 and "
                    'inside it, must not be sent (since it does not match {"minimum": 1})'
                ],
            )
        ],
        1,
    )


FILTER = {
    "type": "object",
    "oneOf": [
        {
            "properties": {"op": {"const": "and"}, "args": {"items": {"$ref": "#/$defs/filter"}}},
            "required": ["args"],
        },
        {
            "properties": {"op": {"const": "or"}, "args": {"items": {"$ref": "#/$defs/filter"}}},
            "required": ["args"],
        },
        {"properties": {"op": {"const": "is"}, "field": {"type": "string"}}, "required": ["field"]},
    ],
}


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"filter": FILTER}, "$ref": "#/$defs/filter"},
        {"$defs": {"filter": {"allOf": [True], **FILTER}}, "$ref": "#/$defs/filter"},
    ],
)
def test_alternatives_that_lead_back_to_themselves_are_told_one_level_deep(schema):
    """Their errors would double with every level: a request of a few hundred bytes would never end."""
    value = {"op": "is", "field": 3}
    for _ in range(60):
        value = {"op": "and", "args": [value]}
    assert problems(schema, value) == (
        [
            (
                "",
                [
                    "must satisfy one of: args[0] must match one of 3 alternatives; "
                    'or op must be "or" and args[0] must match one of 3 alternatives; '
                    'or lacks the required key "field" and op must be "is"'
                ],
            )
        ],
        1,
    )


@pytest.mark.parametrize("schema", [*RECURSIVE, *TANGLED])
@pytest.mark.parametrize("step", ["object", "array"])
def test_a_refusal_of_recursive_data_ends_whatever_judges_it_twice(schema, step):
    """The errors would double with every level."""
    value = "s3cret"
    for _ in range(150):
        value = {"a": value} if step == "object" else [value]
    listed, count = problems(schema, value)
    assert (count > 0, "s3cret" in str(listed)) == (not ValueGate(schema, NO_FORMATS).is_valid(value), False)


def test_where_several_keywords_lead_back_one_level_is_told():
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}},
        "patternProperties": {"^next": {"$ref": "#"}},
    }
    assert problems(schema, {"n": "x", "next": {"n": 1, "next": {"n": "y"}}}) == (
        [("n", ["must be of type integer"]), ("next", ['must match {"$ref": "#"}'])],
        2,
    )


PRICE = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
ROWS = {"items": {"type": "object", "properties": {"price": PRICE, "no": False}}}
IN_FULL = "must satisfy one of: must be of type integer; or must be of type null"
IN_BRIEF = "must match one of 2 alternatives"


@pytest.mark.parametrize(
    ("rows", "told", "count"),
    [
        ([{"price": 1}] * 5000 + [{"price": "x"}], ("[5000].price", IN_FULL), 1),
        ([{"price": "x"}] * 1000 + [{"price": 1}] * 4000, ("[0].price", IN_FULL), 1000),
        ([{"price": "x"}] * 5001, ("[0].price", IN_BRIEF), 5001),
        ([{"price": [1] * 5001}], ("[0].price", IN_BRIEF), 1),
        ([{"price": {"a": [1] * 4998}}], ("[0].price", IN_FULL), 1),
        ([{"price": 1}] * 5000 + [{"no": 1}], ("[5000].no", "must not be sent"), 1),
        ([{"price": 1}] * 5000 + [3], ("[5000]", "must be of type object"), 1),
    ],
)
def test_alternatives_that_refuse_a_great_deal_are_told_in_brief(rows, told, count):
    """Every value could be an error in every alternative, and each is held in memory until all are found."""
    gate = ValueGate(ROWS, NO_FORMATS)
    for _ in range(2):
        [(path, [problem]), *_], counted = gate.problems(rows)
        assert ((path, problem), counted) == (told, count)


POINTERS = {
    "$defs": {
        "n": {
            "$anchor": "n",
            "anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {"$ref": "#n"}}}],
        },
        "odd /~%": {"$ref": "#/$defs/n/anyOf/1"},
        "no": {"not": {"type": "string"}, "contains": {"$ref": "#/$defs/n"}, "minContains": 0},
    },
    "properties": {
        "p": {"$ref": "#/$defs/odd%20~1~0%25"},
        "q": {"$ref": "#/$defs/no/not"},
        "r": {"not": {"$ref": "#/$defs/n"}},
        "s": {"if": {"$ref": "#/$defs/n/anyOf/0"}, "then": {"minimum": 3}},
        "t": {"dependencies": {"a": {"$ref": "#/$defs/n"}}},
        "u": {"$ref": "#/properties/v/unevaluatedProperties"},
        "v": {"unevaluatedProperties": {"type": "null"}},
    },
}


@pytest.mark.parametrize("explain", [explaining, briefly])
@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"p": {"a": {"a": "x"}}}, None),
        ({"q": 1}, None),
        ({"r": 1}, 'must not match {"$ref": "#/$defs/n"}'),
        ({"s": 1}, 'must be at least 3 (since it matches {"$ref": "#/$defs/n/anyOf/0"})'),
        ({"t": {"a": "x"}}, None),
        ({"u": 1}, 'must match {"$ref": "#/properties/v/unevaluatedProperties"}'),
    ],
)
def test_wherever_a_reference_leads_what_explains_can_be_built(explain, sent, told):
    copy = ValueGate(explain(POINTERS), NO_FORMATS)
    gate = ValueGate(POINTERS, NO_FORMATS)
    assert (gate.is_valid(sent), copy.is_valid(sent)) == (False, False)
    [(_, texts)], _ = copy.problems(sent)
    assert told is None or texts == [told]
    assert "x-whole" not in str(texts)
    assert [copy.is_valid(value) for value in ({"p": {"a": 1}}, {"q": "x"}, {"r": "x"}, {"s": 3})] == [
        True
    ] * 4


def test_a_great_deal_is_told_as_ever_where_there_are_no_alternatives():
    listed, count = problems({"items": {"type": "string"}}, [1] * 5001)
    assert (listed[0], count) == (("[0]", ["must be of type string"]), 5001)


def test_unevaluated_keys_beside_such_alternatives_are_told_in_one_word():
    schema = {"$defs": {"filter": {**FILTER, "unevaluatedProperties": False}}, "$ref": "#/$defs/filter"}
    value = {"op": "is", "field": "name", "s3cret": 1}
    assert problems(schema, {"op": "is", "field": "name"}) == ([], 0)
    assert problems(schema, value) == ([("", ["has keys or items that the schema does not allow"])], 1)
    for _ in range(60):
        value = {"op": "and", "args": [value]}
    told, count = problems(schema, value)
    assert count == 1
    assert len(told[0][1][0]) < 400


def test_all_problems_are_told_by_path_in_order():
    schema = {
        "properties": {
            "b": {"type": "string", "minLength": 2, "pattern": "^x"},
            "a": {"items": {"required": ["k"]}},
            "odd key": {"type": "null"},
        }
    }
    assert problems(schema, {"b": "q", "a": [{}, {"k": 1}, {}], "odd key": 1}) == (
        [
            ('["odd key"]', ["must be of type null"]),
            ("a[0]", ['lacks the required key "k"']),
            ("a[2]", ['lacks the required key "k"']),
            ("b", ["must have at least 2 characters", "must match the pattern ^x"]),
        ],
        4,
    )


def test_the_same_problem_is_told_once():
    schema = {"allOf": [{"type": "string"}, {"type": "string"}]}
    assert problems(schema, 1) == ([("", ["must be of type string"])], 1)


def test_ten_paths_are_listed_and_all_are_counted():
    listed, count = problems({"items": {"type": "string"}}, list(range(1000)))
    assert (len(listed), count) == (10, 1000)
    assert [path for path, _ in listed] == sorted(f"[{number}]" for number in range(1000))[:10]


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ({"type": "integer"}, 2.0, True),
        ({"type": "integer"}, True, False),
        ({"enum": [1]}, True, False),
        ({"const": 0}, False, False),
        ({"type": "integer"}, 2**100, True),
        ({"minimum": 2**70}, 2**70 - 1, False),
        ({"type": "string"}, None, False),
        ({"type": ["string", "null"]}, None, True),
        ({"pattern": r"^\d+$"}, "1\n", False),
        ({"pattern": r"^\d+$"}, "\N{ARABIC-INDIC DIGIT ONE}", False),
    ],
)
def test_values_are_what_json_says_they_are(schema, value, valid):
    assert ValueGate(schema, NO_FORMATS).is_valid(value) is valid


def test_a_catastrophic_pattern_ends():
    assert not ValueGate({"pattern": "^(a+)+$"}, NO_FORMATS).is_valid(f"{'a' * 100_000}!")
    assert not ValueGate({"pattern": r"^(a+)+\1$"}, NO_FORMATS).is_valid(f"{'a' * 5000}!")


def test_deeply_nested_data_is_judged():
    schema = {
        "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "additionalProperties": False}},
        "$ref": "#/$defs/n",
    }
    value = inner = {}
    for _ in range(150):
        inner["n"] = {}
        inner = inner["n"]
    gate = ValueGate(schema, NO_FORMATS)
    assert gate.is_valid(value)
    inner["x"] = 1
    assert gate.problems(value) == ([(".".join("n" * 150), ['has keys other than "n"'])], 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nope"},
        {"$ref": "#/$defs/x"},
        {"$ref": "http://x/y"},
        {"format": "dat"},
        {"pattern": "("},
        {3: 4},
    ],
)
def test_what_cannot_be_built_says_so(schema):
    with pytest.raises(SchemaError):
        ValueGate(schema, NO_FORMATS)


SECRET = "s3cret-7f"
CARRIERS = [
    SECRET,
    [SECRET],
    {SECRET: SECRET},
    {"a": SECRET},
    {"a": {SECRET: [SECRET]}},
    [[SECRET], {"a": [SECRET]}],
    {"a": [{"a": {SECRET: 1}}]},
]
KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "string", "object", "array", "null"]),
        "enum": st.just([1, None]),
        "const": st.just(3),
        "format": st.sampled_from(["date", "email", "uuid"]),
        "pattern": st.just("^x"),
        "minLength": st.just(100),
        "maxLength": st.just(1),
        "minItems": st.just(5),
        "uniqueItems": st.just(True),
        "required": st.just(["needed"]),
        "minProperties": st.just(5),
        "maxProperties": st.just(0),
        "dependentRequired": st.just({"a": ["needed"]}),
    },
)
NESTED = st.recursive(
    KEYWORDS,
    lambda inner: st.builds(
        lambda own, more: {**own, **more},
        KEYWORDS,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.fixed_dictionaries({"a": inner}),
                "patternProperties": st.fixed_dictionaries({"^s": inner}),
                "additionalProperties": st.one_of(st.just(False), inner),
                "unevaluatedProperties": st.just(False),
                "items": inner,
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
                "contains": inner,
                "propertyNames": KEYWORDS,
                "anyOf": st.lists(inner, min_size=1, max_size=3),
                "oneOf": st.lists(inner, min_size=1, max_size=3),
                "allOf": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
                "if": inner,
                "then": inner,
                "else": inner,
                "dependentSchemas": st.fixed_dictionaries({"a": inner}),
            },
        ),
    ),
    max_leaves=8,
)


@given(NESTED, st.sampled_from(CARRIERS))
def test_no_problem_names_a_value_or_a_key_that_was_sent(schema, value):
    listed, count = problems(schema, value)
    assert (count > 0) is (not ValueGate(schema, NO_FORMATS).is_valid(value))
    assert SECRET not in json.dumps([texts for _, texts in listed])


@given(NESTED, st.sampled_from([*CARRIERS, [1], {"a": 1}, {"a": {"a": "x"}}, 3, None]))
def test_what_explains_accepts_what_the_schema_accepts(schema, value):
    if "unevaluated" in str(schema):
        return
    for written in (explaining, briefly):
        judged = ValueGate(written(schema), NO_FORMATS).is_valid(value)
        assert judged is ValueGate(schema, NO_FORMATS).is_valid(value)


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.sampled_from([1.5, 2.0, "", "x", "xyz", "2027-01-31"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "s"]), inner, max_size=3)
    ),
    max_leaves=8,
)


#: Where the two libraries are known to differ, as the keywords of the schemas that are left out.
KNOWN_DIFFERENCES = {
    "format": "asserted here, an annotation there; compared by a test of its own",
    "unevaluatedProperties": "judged by annotations, which the other library keeps of siblings that failed",
}


def known_difference(schema):
    text = json.dumps(schema)
    return any(f'"{keyword}"' in text for keyword in KNOWN_DIFFERENCES)


@pytest.mark.parametrize("name", ["date", "email", "ipv4", "ipv6", "regex"])
@pytest.mark.parametrize(
    "value", ["2027-01-31", "2027-02-30", "a@b.example", "127.0.0.1", "::1", "x", "(", 3, None]
)
def test_formats_are_asserted_as_another_validator_asserts_them(name, value):
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    theirs = jsonschema.Draft202012Validator({"format": name}, format_checker=checker)
    assert ValueGate({"format": name}, NO_FORMATS).is_valid(value) is theirs.is_valid(value)


def test_a_keyword_of_older_drafts_is_still_enforced():
    """The other library leaves `dependencies` alone, as the dialect does."""
    schema = {"dependencies": {"a": ["b"]}}
    assert problems(schema, {"a": 1}) == ([("", ['lacks the required key "b"'])], 1)
    assert jsonschema.Draft202012Validator(schema).is_valid({"a": 1})


@given(NESTED, VALUES)
def test_the_gate_agrees_with_another_validator(schema, value):
    if not known_difference(schema):
        ours = ValueGate(schema, NO_FORMATS).is_valid(value)
        assert ours is jsonschema.Draft202012Validator(schema).is_valid(value)
