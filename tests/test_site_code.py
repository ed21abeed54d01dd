"""The README's and the pages' code for a site's own modules is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.urls import URLResolver

from django_mcp import conf
from django_mcp.views import AsyncMCPView, MCPView

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(module):
    """Python blocks that begin with a comment naming the module."""
    found = [
        pytest.param(code, id=page.stem)
        for page in PAGES
        for code in re.findall(rf"```python\n# {module}\n(.*?)```", page.read_text(), re.S)
    ]
    assert found
    return found


def run(code):
    namespace = {}
    exec(code, namespace)
    return namespace


@pytest.mark.parametrize("code", blocks("urls.py"))
def test_urls_mount_the_endpoint(code):
    patterns = run(code)["urlpatterns"]

    assert patterns
    for mounted in patterns:
        found = mounted.resolve(str(mounted.pattern))
        assert found.func.view_class in (MCPView, AsyncMCPView)
        assert found.url_name == ("endpoint" if isinstance(mounted, URLResolver) else None)


@pytest.mark.parametrize("code", blocks("settings.py"))
def test_settings_are_without_offence(code, settings):
    settings.MIDDLEWARE = ["django.contrib.auth.middleware.AuthenticationMiddleware"]
    settings.DJANGO_MCP = run(code).get("DJANGO_MCP", {})

    # A page may name a module that its reader is about to write.
    assert [offence for offence in conf.offences() if "'shop." not in offence.message] == []
