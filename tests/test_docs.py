"""Code on the docs pages runs, and the answers shown are the answers given."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from asgiref.sync import async_to_sync

from django_mcp import testing
from django_mcp.authoring import declare
from django_mcp.registry.catalog import findings
from django_mcp.testing.rounds import ASKS

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


def pages_with(*roles: str) -> list[str]:
    return sorted(
        page.name for page in DOCS.glob("*.md") if any(block.role in roles for block in blocks(page))
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", pages_with("call", "test"))
def test_a_page_s_tools_have_no_offence_its_answers_are_real_and_its_tests_pass(name, request):
    called = None
    namespace = {"__name__": f"docs_{Path(name).stem}"}
    with declare.replaced([]):
        for block in blocks(DOCS / name):
            if block.language == "python":
                run(block, namespace, request)
                # A page may show a model inside of another, which is published by reference.
                assert [one for one in findings() if one.offence.rule != "portable-ref"] == []
            elif block.role == "call":
                ctx = testing.build_context(capabilities=ASKS)
                called = testing.run_tool(block.tool, json.loads(block.text), ctx=ctx)
            elif block.role == "answer":
                assert_shown(block, called)


def run(block, namespace, request):
    """Run code, and the tests in it with the fixtures they name."""
    before = set(namespace)
    # As a module of its own, which takes no __future__ imports from this one.
    exec(compile(block.text, namespace["__name__"], "exec", dont_inherit=True), namespace)
    for name in [name for name in namespace if name.startswith("test_") and name not in before]:
        function = namespace[name]
        assert block.role == "test", f"{name} is in a block that is not marked as a test"
        for values in cases(function):
            fixtures = [name for name in inspect.signature(function).parameters if name not in values]
            values = values | {name: request.getfixturevalue(name) for name in fixtures}
            call = async_to_sync(function) if inspect.iscoroutinefunction(function) else function
            call(**values)


def cases(function):
    """The values of a test's parameters, of the one parameter that tests on a page have."""
    marks = getattr(function, "pytestmark", [])
    if not marks:
        return [{}]
    [mark] = marks
    name, values = mark.args
    return [{name: value} for value in values]


def assert_shown(block, called):
    if "inputRequests" in called:
        assert json.loads(block.text) == called["inputRequests"]
    elif block.language == "json":
        assert json.loads(block.text) == json.loads(called["content"][0]["text"])
    else:
        assert block.text.rstrip("\n") == called["content"][0]["text"]


def test_every_call_shown_has_its_answer():
    for page in DOCS.glob("*.md"):
        roles = [block.role for block in blocks(page) if block.role in ("call", "answer")]
        assert roles == ["call", "answer"] * (len(roles) // 2), page.name
