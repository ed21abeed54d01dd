"""Rules of the house that no linter knows."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "django_mcp").rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_no_module_has_more_than_400_lines(module):
    assert len(module.read_text().splitlines()) <= 400
