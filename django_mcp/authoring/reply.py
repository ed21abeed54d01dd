from __future__ import annotations

import enum
from typing import Any, Final, Generic, TypeVar

_T = TypeVar("_T")


class _Omitted(enum.Enum):
    OMITTED = "omitted"


#: Stands for "no hint context given", which is not the same as an empty one.
OMITTED: Final = _Omitted.OMITTED


class Reply(Generic[_T]):
    """A successful answer for which the tool's `hints` are asked.

    `value` is anything a handler may return by itself; as a return type, `Reply[T]` says what it is.
    `hint_context` is handed to `hints(action, hint_context)`; leaving it out asks for no hints, an empty
    mapping asks for them.
    """

    __slots__ = ("hint_context", "value")

    def __init__(self, value: _T, *, hint_context: Any = OMITTED) -> None:
        self.value = value
        self.hint_context = hint_context
