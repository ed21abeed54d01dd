"""The tools of peers that take plain functions. `SHAPE` names the set of tools."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel


class Item(BaseModel):
    sku: str
    qty: int
    price: float


class Created(BaseModel):
    message: str
    id: int


class Imported(BaseModel):
    message: str


def create(name: str, priority: int) -> Created:
    """Create a task with a name and a priority."""
    return Created(message=f"created {name}", id=1)


def add(items: list[Item]) -> Imported:
    """Add items."""
    return Imported(message=f"imported {len(items)}")


def register(tool: Callable[..., Any]) -> None:
    shape = os.environ["SHAPE"]
    if shape == "calls":
        tool(name="typed")(create)
        tool(name="bulk")(add)
        return
    tool(name="tasks")(create)
    for number in range(1, 50 if shape == "fifty" else 1):
        tool(name=f"tasks_{number:02}")(create)
