from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_mcp.encoding import codec

SURROGATE = (
    "lone_surrogate",
    "The JSON escapes half of a surrogate pair alone.",
)
CONSTANT = ("non_finite_number", "The JSON holds NaN or Infinity, which JSON does not have.")
TOO_LARGE = ("non_finite_number", "The JSON holds a number too large for a double.")
TOO_DEEP = ("too_deep", "The JSON is nested more than 200 levels deep.")
EMPTY = ("empty_body", "The body is empty; a JSON text was expected.")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner)
    ),
    max_leaves=30,
)


def refusal(data: bytes) -> tuple[str, str]:
    with pytest.raises(codec.DecodeError) as caught:
        codec.decode(data)
    assert str(caught.value) == caught.value.message
    return caught.value.reason, caught.value.message


def nested(depth: int) -> bytes:
    return b"[" * depth + b"1" + b"]" * depth


def test_encoding_is_compact_utf8_with_non_ascii_characters_unescaped() -> None:
    value = {"naïve": ["日本", 1, 1.5, True, None, "a/b</script>"], "empty": {}}
    assert codec.text(value) == '{"naïve":["日本",1,1.5,true,null,"a/b</script>"],"empty":{}}'
    assert codec.encode(value) == codec.text(value).encode()


def test_text_of_a_root_string_or_none_is_json() -> None:
    assert (codec.text('say "hi"\n'), codec.text(None)) == (r'"say \"hi\"\n"', "null")


def test_integers_keep_every_digit_both_ways() -> None:
    number = 2**64 + 1
    assert codec.encode([number, -(10**400)]) == b"[18446744073709551617,-1" + b"0" * 400 + b"]"
    assert codec.decode(codec.encode([number, -(10**400)])) == [number, -(10**400)]


def test_decoding_keeps_integers_and_floats_apart() -> None:
    assert repr(codec.decode(b"[2, 2.0, -0.0, 1E2, 1e-400]")) == "[2, 2.0, -0.0, 100.0, 0.0]"


def test_the_last_of_duplicate_keys_wins() -> None:
    assert codec.decode(b'{"a":1,"b":2,"a":3}') == {"a": 3, "b": 2}


def test_whitespace_around_and_surrogate_pairs_within_are_json() -> None:
    assert codec.decode(b' \r\n\t{"a":"\\ud83d\\ude00 \\u0000"} ') == {"a": "😀 \x00"}


@pytest.mark.parametrize("data", [b"", b" \r\n\t"])
def test_an_empty_body_is_refused(data: bytes) -> None:
    assert refusal(data) == EMPTY


def test_a_byte_order_mark_is_refused() -> None:
    assert refusal(b"\xef\xbb\xbf{}") == ("byte_order_mark", "The JSON starts with a byte order mark.")


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b'"ab\xff"', 3),
        (b'"\xed\xa0\x80"', 1),
        (b"\xc0\x80", 0),
        (b"\xff\xfe1\x00", 0),
        ('{"ä":1}'.encode("latin-1"), 2),
    ],
)
def test_what_is_not_utf8_is_refused(data: bytes, offset: int) -> None:
    assert refusal(data) == ("invalid_utf8", f"The body is not UTF-8: invalid byte at offset {offset}.")


@pytest.mark.parametrize(
    "data", [rb'"\ud800"', rb'"\udc00a"', rb'["\ud800\ud800"]', rb'{"\ud83dx":1}', rb'"\ud83d\n"']
)
def test_a_lone_surrogate_is_refused(data: bytes) -> None:
    assert refusal(data) == SURROGATE


@pytest.mark.parametrize("data", [b"NaN", b"[-Infinity]", b'{"a":Infinity}'])
def test_nan_and_infinity_are_refused(data: bytes) -> None:
    assert refusal(data) == CONSTANT


@pytest.mark.parametrize(
    "data",
    [
        b"1e400",
        b"-1E+0400",
        b'{"a":[{"b":1.5e309}]}',
        b"[1, 123e307]",
        b"9" * 400 + b".5",
        b"9" * 250 + b"e99",
        b'[1, "Infinity", -1e999]',
    ],
)
def test_a_number_beyond_a_double_is_refused(data: bytes) -> None:
    assert refusal(data) == TOO_LARGE


@pytest.mark.parametrize(
    "data",
    [b'["1e400", "+123", 1e100]', b'{"e111": {"deep": [1.5, "x"]}}', b"1.7976931348623157e308", b"7" * 400],
)
def test_what_only_looks_beyond_a_double_is_accepted(data: bytes) -> None:
    assert codec.decode(data) == json.loads(data)


def test_an_integer_beyond_4300_digits_is_refused() -> None:
    assert codec.decode(b"1" * 4300) == int("1" * 4300)
    assert refusal(b"[" + b"1" * 4301 + b"]") == (
        "number_too_long",
        "The JSON holds an integer of more than 4,300 digits.",
    )


def test_nesting_is_accepted_up_to_200_levels() -> None:
    assert codec.encode(codec.decode(nested(200))) == nested(200)
    assert refusal(nested(201)) == TOO_DEEP
    assert refusal(b'{"a":' * 100_000) == TOO_DEEP


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"{", "EOF while parsing an object at line 1 column 1"),
        (b"[1,]", "trailing comma at line 1 column 4"),
        (b"{1:2}", "key must be a string at line 1 column 2"),
        (b"01", "invalid number at line 1 column 2"),
        (b"null x", "trailing characters at line 1 column 6"),
        (b"'a'", "expected value at line 1 column 1"),
        (b'"\\x"', "invalid escape at line 1 column 3"),
        (b"\n\n tru", "EOF while parsing a value at line 3 column 4"),
    ],
)
def test_malformed_json_is_refused_with_its_place(data: bytes, where: str) -> None:
    assert refusal(data) == ("invalid_json", f"The body is not JSON: {where}.")


def test_a_refusal_quotes_nothing_of_the_body() -> None:
    _, message = refusal(b'{"token": hunter2}')
    assert message == "The body is not JSON: expected value at line 1 column 11."


@given(json_values)
def test_what_is_encoded_decodes_to_the_same_value(value: Any) -> None:
    assert codec.decode(codec.encode(value)) == value
    assert json.loads(codec.encode(value)) == value


@given(st.binary(max_size=60) | st.text(alphabet='[]{}:,"\\ued8019eE+-.naItrf ', max_size=30).map(str.encode))
def test_any_bytes_decode_to_finite_json_or_are_refused(data: bytes) -> None:
    try:
        value = codec.decode(data)
    except codec.DecodeError:
        return
    assert json.loads(data, parse_constant=lambda constant: math.nan) == value
    assert b"Infinity" not in codec.encode(value).replace(b'"', b"")


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"1", 1),
        (b"[]", 1),
        (b"[[],{},[1]]", 5),
        (b'{"a":1,"b":[true,null,"x,[{,[{"]}', 6),
        (b'"a,b,c,d"', 1),
    ],
)
def test_values_are_counted_exactly_and_keys_are_not(data: bytes, count: int) -> None:
    value = codec.decode(data)
    assert [codec.exceeds_values(data, value, limit) for limit in (count - 1, count)] == [True, False]


@given(json_values)
def test_the_count_of_values_agrees_with_a_plain_recursion(value: Any) -> None:
    def count(item: Any) -> int:
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        return 1 + sum(count(each) for each in inner)

    data = codec.encode(value)
    assert [codec.exceeds_values(data, value, count(value) + more) for more in (-1, 0)] == [True, False]
