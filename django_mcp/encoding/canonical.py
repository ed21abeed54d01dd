from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def canonical(value: Any) -> Any:
    """A plain value with the keys of every object in order, so that equal ones have equal JSON."""
    if isinstance(value, Mapping):
        return {key: canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return value
