from __future__ import annotations

import json

import pytest
from asgiref.sync import async_to_sync

from django_mcp import testing
from tests.typed.tools import definition, only
from tests.wire import members


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Call the only tool of a declaration from a thread and from an event loop."""
    way = testing.run_tool if request.param == "sync" else async_to_sync(testing.arun_tool)

    def call(declared, arguments=None, **options):
        with testing.served(declared):
            return members(way(only(declared).name, arguments or {}, **options))

    return call


@pytest.fixture
def refusal(run):
    """Call a tool that refuses its arguments; what the body says besides what every such body does."""

    def call(declared, arguments):
        result = run(declared, arguments)
        assert result["isError"] is True
        assert result["_meta"] == {"django_mcp.error": "invalid_arguments", "django_mcp.retryable": True}
        [block] = result["content"]
        body = json.loads(block["text"])
        assert body.pop("input_schema") == definition(declared)["inputSchema"]
        assert body.pop("help") == f'help {{tool: "{only(declared).name}"}}'
        return body

    return call
