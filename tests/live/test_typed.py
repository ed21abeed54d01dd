"""The official client takes what typed tools list and answer, for every type there is."""

from __future__ import annotations

import jsonschema
import pytest
from mcp import Client

from example_project.process import SERVERS, running
from tests.typed.test_input import TYPES

pytestmark = pytest.mark.live


@pytest.fixture(scope="module", params=sorted(SERVERS))
def site(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with running(request.param, folder, "tests.live.typed.settings") as address:
        yield address


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_client_accepts_the_result_of_every_type(endpoint, mode):
    """It holds each result to the output schema of its tool, and raises where one does not keep it."""
    async with Client(endpoint, mode=mode, read_timeout_seconds=60) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for number, (_, _, sent, _) in enumerate(TYPES):
            tool = tools[f"echo_{number}"]
            jsonschema.validate({"value": sent}, tool.input_schema)
            result = await client.call_tool(tool.name, {"value": sent})
            assert not result.is_error, tool.name
            jsonschema.validate(result.structured_content, tool.output_schema)
