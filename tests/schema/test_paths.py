"""Data paths say where a value sits."""

from __future__ import annotations

import pytest

from django_mcp.schema import paths


@pytest.mark.parametrize(
    ("parent", "key", "path"),
    [
        ("", "name", "name"),
        ("items[0]", "qty", "items[0].qty"),
        ("", "_a-1", "_a-1"),
        ("", "odd key", '["odd key"]'),
        ("a", "odd key", 'a["odd key"]'),
        ("", "1st", '["1st"]'),
        ("", "", '[""]'),
        ("", 'quo"te', '["quo\\"te"]'),
        ("", "grün", '["grün"]'),
        ("", "line\n", '["line\\n"]'),
    ],
)
def test_a_key_is_plain_or_in_brackets_as_json(parent, key, path):
    assert paths.join(parent, key) == path


def test_steps_make_a_path():
    assert paths.of(["items", 0, "odd key"]) == 'items[0]["odd key"]'
    assert paths.of([]) == paths.ROOT


def test_an_item_is_in_brackets():
    assert paths.item(paths.join(paths.ROOT, "items"), 3) == "items[3]"
