"""Code on the docs pages runs, and the answers shown are the answers given."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from django_mcp import testing
from django_mcp.authoring import declare
from django_mcp.registry.catalog import findings

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(
    r"(?:<!-- (?P<role>\w+)(?:: (?P<tool>[\w.-]+))? -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.S
)


class Block(NamedTuple):
    role: str | None
    tool: str | None
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(**match.groupdict()) for match in BLOCK.finditer(page.read_text())]


def pages_with(role: str) -> list[str]:
    return sorted(
        page.name for page in DOCS.glob("*.md") if any(block.role == role for block in blocks(page))
    )


@pytest.mark.parametrize("name", pages_with("call"))
def test_a_page_with_calls_declares_tools_without_offence_and_shows_their_real_answers(name):
    called = None
    namespace = {"__name__": f"docs_{Path(name).stem}"}
    with declare.replaced([]):
        for block in blocks(DOCS / name):
            if block.language == "python":
                exec(block.text, namespace)
                assert findings() == []
            elif block.role == "call":
                called = testing.run_tool(block.tool, json.loads(block.text))
            elif block.role == "answer":
                text = called["content"][0]["text"]
                if block.language == "json":
                    assert json.loads(text) == json.loads(block.text)
                else:
                    assert text == block.text.rstrip("\n")


def test_every_call_shown_has_its_answer():
    for page in DOCS.glob("*.md"):
        roles = [block.role for block in blocks(page) if block.role in ("call", "answer")]
        assert roles == ["call", "answer"] * (len(roles) // 2), page.name
