"""Data paths: where a value sits in a call's data, as in `items[0].qty` or `["odd key"]`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

#: The path of the data itself.
ROOT = ""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def join(parent: str, key: str) -> str:
    """The path of a key of an object."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{parent}.{key}" if parent else key
    return f"{parent}[{json.dumps(key, ensure_ascii=False)}]"


def item(parent: str, index: int) -> str:
    """The path of an item of an array."""
    return f"{parent}[{index}]"


def of(steps: Iterable[str | int]) -> str:
    """The path of keys and indexes from the root."""
    path = ROOT
    for step in steps:
        path = join(path, step) if isinstance(step, str) else item(path, step)
    return path
