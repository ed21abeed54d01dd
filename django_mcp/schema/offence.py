from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offence:
    """One rule a declaration breaks. A warning does not keep a tool from being served."""

    rule: str
    message: str
    fix: str
    callback: str
    action: str | None = None
    warning: bool = False
