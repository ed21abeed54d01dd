"""`manage.py check`, as a developer sees it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from django.core.management import call_command

from django_mcp.checks import RULES

ROOT = Path(__file__).parent.parent


def test_everything_wrong_with_an_app_is_told_at_once():
    """The whole output on the app in tests/broken, held to its text."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.broken.settings", "NO_COLOR": "1"}
    check = subprocess.run(
        [sys.executable, "-m", "django", "check"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    told = re.sub(r" at 0x[0-9a-f]+", " at 0x", check.stderr.replace(f"{ROOT}/", ""))
    assert told == (ROOT / "tests/broken/expected.txt").read_text()
    assert (check.returncode, check.stdout) == (1, "")


def test_every_check_has_an_id_of_its_own():
    ids = [id_ for id_, _ in RULES.values()]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[EW]\d{3}", id_) for id_ in ids)


def test_every_check_is_on_its_page():
    page = (ROOT / "docs/checks.md").read_text()
    shown = re.findall(r"^\| `django_mcp\.([EW]\d{3})` \| (.*) \|$", page, re.M)
    assert shown == list(RULES.values())


def test_every_rule_an_offence_can_name_has_a_check():
    """Rules are words in the code; each stands in the table, and the table holds no other."""
    code = "".join(
        path.read_text() for path in (ROOT / "django_mcp").rglob("*.py") if path.name != "checks.py"
    )
    for rule in RULES:
        assert f'"{rule}"' in code or re.sub(r"include|exclude", "{setting.lower()}", rule) in code, rule
    for rule in re.findall(r'rule="([\w-]+)"', code):
        assert rule in RULES


def mcp_check(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command("mcp", "check", *arguments, stdout=out, stderr=err)
    return out.getvalue() + err.getvalue()


def test_the_tools_alone_can_be_checked():
    assert mcp_check() == "System check identified no issues (0 silenced).\n"


def test_a_deployment_that_anybody_may_call_is_warned_of(settings):
    assert (
        "?: (django_mcp.W005) Server default: AUTH is not set, so everybody may call its tools."
        in mcp_check("--deploy")
    )
    settings.DJANGO_MCP = {"AUTH": "django_mcp.auth.bearer.BearerTokenAuth", "CONFIRM_DESTRUCTIVE": True}
    assert "django_mcp" not in mcp_check("--deploy")
