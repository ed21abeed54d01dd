"""A tool for every type, which returns what it takes."""

from __future__ import annotations

from django_mcp import tool
from tests.typed.test_input import TYPES

for number, (hint, _, _, _) in enumerate(TYPES):

    def echo(value):
        return value

    echo.__annotations__ = {"value": hint, "return": hint}
    tool(name=f"echo_{number}", description=f"Returns {hint}", read_only=True)(echo)
