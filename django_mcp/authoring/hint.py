from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Hint:
    """A follow-up call suggested to the model next to an answer.

    `tool` and `action` name the call, `tool` alone that of a tool without actions; `description` says what it
    is good for, `example` is the arguments to copy, for an action by convention `{"data": {...}}`. A wrong
    type raises TypeError, an empty name ValueError.
    """

    __slots__ = ("action", "description", "example", "tool")

    def __init__(
        self,
        *,
        tool: str,
        description: str,
        action: str | None = None,
        example: Mapping[str, Any] | None = None,
    ) -> None:
        for field, value in (("tool", tool), ("action", action), ("description", description)):
            if field == "action" and value is None:
                continue
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
        """The hint as it is published; what it does not have is left out."""
        fields = {
            "tool": self.tool,
            "action": self.action,
            "description": self.description,
            "example": self.example,
        }
        return {field: value for field, value in fields.items() if value is not None}
