from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django_mcp.registry.registration import Registration
from django_mcp.schema.offence import Offence


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome of one declared tool: a registration, or None when an offence refuses it.

    `origin` names the class, function or method that declares it; None for what declares no tool.
    """

    declared: Any
    label: str
    registration: Registration | None
    offences: tuple[Offence, ...]
    origin: str | None


def origin(declared: Any) -> str:
    return f"{declared.__module__}.{declared.__qualname__}"
