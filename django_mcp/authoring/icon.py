from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Icon:
    """A picture of a tool, for clients to show (MCP `Icon`).

    `src` is an https URL or a data URI, `mime_type` what it is, `sizes` as in `("48x48",)` or `("any",)`,
    `theme` the background it is made for.
    """

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: Literal["light", "dark"] | None = None

    def wire(self) -> dict[str, Any]:
        """The icon as clients read it."""
        stated = {"src": self.src, "mimeType": self.mime_type, "sizes": list(self.sizes), "theme": self.theme}
        return {key: value for key, value in stated.items() if value}


def wires(icons: Iterable[Any] | None) -> tuple[dict[str, Any], ...]:
    """Icons as clients read them; a dict is one already."""
    return tuple(icon.wire() if isinstance(icon, Icon) else icon for icon in icons or ())
