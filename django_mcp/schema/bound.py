"""The one bound on what is told about a value, in three forms. Total: no value makes any of them raise."""

from __future__ import annotations

import reprlib
from typing import Any, Final

#: Characters of a text, items of a collection.
LIMIT: Final = 200
#: How many offences a refusal lists; it counts them all.
LISTED: Final = 10

_ELLIPSIS = "…"


class _Repr(reprlib.Repr):
    """Bounded representations of containers, so that a huge one is not written out to be cut."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = LIMIT
        self.maxstring = self.maxother = self.maxlong = LIMIT * 2


_repr = _Repr()


def _cut(text: str) -> str:
    size = len(text)
    if size > LIMIT:
        text = f"{text[:LIMIT]}{_ELLIPSIS} ({size} characters)"
    return sendable(text)


def sendable(text: str) -> str:
    """The text without lone surrogates, as of an undecodable file name: they could not be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def render(value: Any) -> str:
    """A value as text for a diagnostic; an exception is its message."""
    try:
        if isinstance(value, (str, BaseException)):
            return _cut(str(value))
        return _cut(_repr.repr(value))
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


def value(value: Any) -> Any:
    """A value for a log record: a scalar as itself, anything else as text."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int) and value.bit_length() <= LIMIT:
        return value
    return render(value)


def echo(value: str) -> str:
    """A name or path from the request, as a refusal quotes it."""
    return _cut(value)
