from __future__ import annotations

import enum
from typing import Any, Final


class _Omitted(enum.Enum):
    OMITTED = "omitted"


#: Stands for "no hint context given", which is not the same as an empty one.
OMITTED: Final = _Omitted.OMITTED


class Reply:
    """A successful answer for which the tool's `hints` are asked.

    `value` is anything a handler may return by itself. `hint_context` is handed to `hints(action,
    hint_context)`; leaving it out asks for no hints, an empty mapping asks for them.
    """

    __slots__ = ("hint_context", "value")

    def __init__(self, value: Any, *, hint_context: Any = OMITTED) -> None:
        self.value = value
        self.hint_context = hint_context
