from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Hint:
    """A follow-up call suggested to the model next to an answer.

    `tool` and `action` name the call, `description` says what it is good for, `example` is the arguments to
    copy, by convention `{"data": {...}}`. A wrong type raises TypeError, an empty name ValueError.
    """

    __slots__ = ("action", "description", "example", "tool")

    def __init__(
        self, *, tool: str, action: str, description: str, example: Mapping[str, Any] | None = None
    ) -> None:
        for field, value in (("tool", tool), ("action", action), ("description", description)):
            if not isinstance(value, str):
                raise TypeError(f"Hint.{field} must be a string, not {type(value).__name__}.")
            if not value:
                raise ValueError(f"Hint.{field} must not be empty.")
        if example is not None and not isinstance(example, Mapping):
            raise TypeError(f"Hint.example must be a mapping or None, not {type(example).__name__}.")
        self.tool = tool
        self.action = action
        self.description = description
        self.example = example

    def wire(self) -> dict[str, Any]:
        """The hint as it is published; an absent example is left out."""
        published: dict[str, Any] = {
            "tool": self.tool,
            "action": self.action,
            "description": self.description,
        }
        if self.example is not None:
            published["example"] = self.example
        return published
