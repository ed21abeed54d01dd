"""JSON bytes out of plain values and plain values out of JSON bytes.

Writing is for values that are plain already (`normalise`). Reading is strict: UTF-8 without a byte order
mark, one JSON text (RFC 8259), at most 200 levels deep, integers exact up to 4,300 digits, numbers finite. Of
duplicate keys the last one wins, as JSON parsers commonly do.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from typing import Any, Final, Literal

from pydantic_core import from_json, to_json

Reason = Literal[
    "empty_body",
    "byte_order_mark",
    "invalid_utf8",
    "too_deep",
    "lone_surrogate",
    "number_too_long",
    "non_finite_number",
    "invalid_json",
]


class DecodeError(ValueError):
    """Bytes that are not the JSON this package accepts (JSON-RPC -32700).

    `reason` is a machine word, `message` a sentence that quotes nothing of the bytes.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


#: The compact UTF-8 JSON of a plain value; non-ASCII characters stand for themselves.
encode: Final[Callable[[Any], bytes]] = to_json


def text(value: Any) -> str:
    """`encode` as text, as content blocks carry it."""
    return to_json(value).decode()


def decode(data: bytes) -> Any:
    """The value of a JSON text. Raises DecodeError."""
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise _refusal(data, str(error)) from None
    shapes = data.translate(_NUMBER_SHAPES)
    if (_LONG_EXPONENT in shapes or _LONG_MANTISSA in shapes) and _has_infinity(value):
        raise DecodeError("non_finite_number", "The JSON holds a number too large for a double.")
    return value


def exceeds_values(data: bytes, value: Any, limit: int) -> bool:
    """Whether `value`, decoded from `data`, is made of more than `limit` JSON values; keys do not count."""
    # Every value but the root stands behind one of these bytes, so most bodies need no look at their values.
    if 1 + len(data.translate(None, _NOT_BEFORE_VALUES)) <= limit:
        return False
    count = 1
    containers = [value] if isinstance(value, (dict, list)) else []
    while containers and count <= limit:
        container = containers.pop()
        count += len(container)
        items = container.values() if isinstance(container, dict) else container
        containers += [item for item in items if isinstance(item, (dict, list))]
    return count > limit


#: Every byte that no value but the root stands right behind.
_NOT_BEFORE_VALUES = bytes(set(range(256)) - set(b",[{"))

# The wording of the parser's errors, each with what it means for the sender.
_REFUSALS: tuple[tuple[str, Reason, str], ...] = (
    ("recursion limit exceeded", "too_deep", "The JSON is nested more than 200 levels deep."),
    ("surrogate", "lone_surrogate", "The JSON escapes half of a surrogate pair alone."),
    ("end of hex escape", "lone_surrogate", "The JSON escapes half of a surrogate pair alone."),
    ("number out of range", "number_too_long", "The JSON holds an integer of more than 4,300 digits."),
)


def _refusal(data: bytes, error: str) -> DecodeError:
    if not data.strip(b" \t\r\n"):
        return DecodeError("empty_body", "The body is empty; a JSON text was expected.")
    if data.startswith(BOM_UTF8):
        return DecodeError("byte_order_mark", "The JSON starts with a byte order mark.")
    try:
        data.decode()
    except UnicodeDecodeError as malformed:
        return DecodeError(
            "invalid_utf8", f"The body is not UTF-8: invalid byte at offset {malformed.start}."
        )
    for wording, reason, message in _REFUSALS:
        if wording in error:
            return DecodeError(reason, message)
    try:
        from_json(data)
    except ValueError:
        return DecodeError("invalid_json", f"The body is not JSON: {error}.")
    return DecodeError("non_finite_number", "The JSON holds NaN or Infinity, which JSON does not have.")


# The parser reads a number beyond a double's range as infinity. Such a number has an exponent of three digits
# or very many digits. With every digit made a "1" and every exponent sign an "e", two searches tell whether
# there may be one.
_NUMBER_SHAPES = bytes.maketrans(b"0123456789eE+", b"1111111111eee")
_LONG_EXPONENT = b"e111"
_LONG_MANTISSA = b"1" * 200


def _has_infinity(value: Any) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += item.values()
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, float) and item - item != 0:
            return True
    return False
