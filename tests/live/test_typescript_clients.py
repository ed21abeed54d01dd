"""The TypeScript clients against real servers: the 2.x client in each mode, and the 1.x SDK."""

from __future__ import annotations

import subprocess

import pytest

from tests.node.packages import NODE, node

pytestmark = pytest.mark.live


@pytest.fixture(scope="session")
def packages():
    return node()


@pytest.mark.parametrize(
    ("script", "arguments", "said"),
    [
        ("modern.mjs", ["legacy"], "legacy: ok"),
        ("modern.mjs", ["auto"], "auto: ok"),
        ("modern.mjs", ["pin", "2026-07-28"], "pin: ok"),
        ("legacy.mjs", [], "legacy SDK: ok"),
    ],
)
def test_a_typescript_client_discovers_lists_and_calls(packages, endpoint, script, arguments, said):
    run = subprocess.run(
        [packages, script, endpoint, *arguments], cwd=NODE, capture_output=True, text=True, timeout=60
    )
    assert (run.stdout.strip(), run.stderr, run.returncode) == (said, "", 0)
