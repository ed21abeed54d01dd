from __future__ import annotations

import re
from typing import Any

from django_mcp.schema import bound

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def problem(name: Any) -> tuple[str, str] | None:
    """What is wrong with the name of a tool, and what to write instead (MCP tool names)."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return None
    return (
        f"The tool name {bound.render(name)!r} is not 1 to 128 characters of A-Z a-z 0-9 _ . -",
        "Set name to such a word, for example the snake_case of the class.",
    )
