from __future__ import annotations

from pathlib import Path
from typing import Any

from django_mcp.conf import SETTINGS, Setting

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ", ".join(f"`{item}`" for item in default) or "`()`"
    return f"`{default!r}`" if isinstance(default, (str, int, type(None))) else f"`{dict(default)!r}`"


def table(settings: list[Setting]) -> str:
    rows = [f"| `{s.name}` | {s.kind.text} | {shown(s.default)} | {s.description} |" for s in settings]
    return "\n".join(["| setting | type | default | meaning |", "| --- | --- | --- | --- |", *rows, ""])


def test_the_documentation_shows_every_setting_with_its_type_default_and_meaning() -> None:
    _, rest = PAGE.read_text().split("## For every server\n\n")
    per_server, whole = rest.split("\n## For the whole site\n\n")
    assert per_server == table([setting for setting in SETTINGS if setting.per_server])
    assert whole == table([setting for setting in SETTINGS if not setting.per_server])
