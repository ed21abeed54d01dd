from __future__ import annotations

import json

import pytest
from asgiref.sync import async_to_sync

from django_mcp import testing


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Run a tool from a thread and from an event loop; the whole MCP result comes back."""
    if request.param == "sync":
        return testing.run_tool
    return async_to_sync(testing.arun_tool)


@pytest.fixture
def body(run):
    """Run a tool and return the JSON of its only text block."""

    def call(tool, arguments, **options):
        [block] = run(tool, arguments, **options)["content"]
        assert block["type"] == "text"
        return json.loads(block["text"])

    return call
