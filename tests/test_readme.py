"""The README's steps work as they stand there."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

import django_mcp
from django_mcp import testing
from django_mcp.authoring import declare
from django_mcp.registry.catalog import findings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_tool_is_declared_without_offence_and_answers():
    code = re.search(r"```python\n# mcp.py in any of your apps\n(.*?)```", README, re.S)[1]
    with declare.replaced([]):
        exec(code, {"__name__": "readme"})
        assert findings() == []
        answer = testing.run_tool("greeter", {"action": "greet", "data": {"name": "Ada"}})
        assert json.loads(answer["content"][0]["text"]) == {"greeting": "Hello, Ada!"}


def test_every_link_leads_to_a_file():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_named_commands_are_targets_of_the_makefile():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"`make (\w+)`", README)) <= targets


def test_it_fits_on_a_screen_up_to_where_it_says_done():
    assert README.index("Done:") < README.index("make demo")
    assert README[: README.index("Done:")].count("\n") <= 60


def test_the_installed_version_is_the_one_the_package_states():
    assert version("django-mcp-actions") == django_mcp.__version__
