from __future__ import annotations

import json

import pytest
from asgiref.sync import async_to_sync

from django_mcp import testing
from tests.wire import members


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Run a tool from a thread and from an event loop; the members of the MCP result come back."""
    way = testing.run_tool if request.param == "sync" else async_to_sync(testing.arun_tool)

    def call(*args, **options):
        return members(way(*args, **options))

    return call


@pytest.fixture
def body(run):
    """Run a tool and return the JSON of its only text block."""

    def call(tool, arguments, **options):
        [block] = run(tool, arguments, **options)["content"]
        assert block["type"] == "text"
        return json.loads(block["text"])

    return call
