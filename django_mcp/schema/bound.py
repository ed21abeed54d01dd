"""The one bound on what is told about a value, in three forms. Total: no value makes any of them raise."""

from __future__ import annotations

import reprlib
import sys
from collections import deque
from typing import Any, Final

#: Characters of a text, items of a collection.
LIMIT: Final = 200
#: How many offences a refusal lists; it counts them all.
LISTED: Final = 10

_COLLECTIONS = (dict, list, tuple, set, frozenset, deque)


class _Repr(reprlib.Repr):
    """Bounded representations of containers, so that a huge one is not written out to be cut."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = LIMIT
        self.maxstring = LIMIT * 3
        # Anything else is written whole, for its size is told.
        self.maxother = self.maxlong = sys.maxsize


_repr = _Repr()


def _cut(text: str, size: str | None = None) -> str:
    if len(text) > LIMIT:
        text = f"{text[:LIMIT]}… ({size or f'{len(text)} characters'})"
    return sendable(text)


def sendable(text: str) -> str:
    """The text without lone surrogates, as of an undecodable file name: they could not be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def is_sendable(text: str) -> bool:
    """Whether a text is free of lone surrogates."""
    return text.isascii() or sendable(text) == text


def render(value: Any) -> str:
    """A value as text for a diagnostic; an exception is its message."""
    try:
        if isinstance(value, str):
            return echo(value)
        if isinstance(value, BaseException):
            return _cut(str(value))
        if isinstance(value, _COLLECTIONS):
            count = len(value)
            return _cut(_repr.repr(value), f"{count} {'item' if count == 1 else 'items'}")
        return _cut(_repr.repr(value))
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


def value(value: Any) -> Any:
    """A value for a log record: a scalar as itself, anything else as text."""
    # By its exact type: to ask a lazy object what it is an instance of may already fail.
    kind = type(value)
    if kind in (bool, float, type(None)) or (kind is int and value.bit_length() <= LIMIT):
        return value
    return render(value)


def echo(value: str) -> str:
    """A name or path from the request, as a refusal quotes it."""
    # A subclass may answer for itself with anything; its characters are those of the plain string.
    text = str.__str__(value)
    return text if len(text) <= LIMIT and text.isascii() else _cut(text)
