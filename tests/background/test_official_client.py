"""The official client checks every result against the output schema that was listed, and refuses what differs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
import pytest
from django.core.asgi import get_asgi_application
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel, ConfigDict, TypeAdapter

from django_mcp import BaseTool, Tool, action, testing
from django_mcp.registry.catalog import catalog
from tests.typed.tools import made

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("in_memory", "inline"),
]


class Named(BaseModel):
    name: str


class Priced(Named):
    price: float = 0


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str | None = None


@dataclass
class Node:
    """Parts, of which another tool has its own idea."""

    name: str
    parts: list[Node] = field(default_factory=list)


def other_node():
    @dataclass
    class Node:
        """Not the one above."""

        name: str
        weight: int

    return Node


Other = other_node()

#: What tools return, by the type they state; many values satisfy several of these types.
ANSWERS: list[tuple[Any, list[Any]]] = [
    (int, [7]),
    (float, [7.0, 7.5]),
    (int | str, [7, "seven"]),
    (int | None, [7, None]),
    (str, ["seven", ""]),
    (Literal["seven", "eight"], ["seven"]),
    (bool, [True]),
    (Named, [Named(name="lamp")]),
    (Priced, [Priced(name="lamp", price=3)]),
    (Open, [Open(), Open.model_validate({"name": "lamp", "price": 3})]),
    (Node, [Node("lamp", [Node("bulb")])]),
    (Other, [Other("lamp", 3)]),
    (dict[str, float], [{}, {"lamp": 3.0}]),
    (Mapping[str, Any], [{"name": "lamp", "price": 3}]),
    (list[int], [[], [7]]),
    (list[float], [[], [7.0, 7.5]]),
    (list[Node], [[], [Node("lamp", [Node("bulb")])]]),
    (tuple[int, str], [(7, "seven")]),
    (set[str], [{"seven"}]),
]


def returning(number, hint, values):
    """A background tool that returns what is stated of its type, by number."""

    def give(which):
        return values[which]

    give.__annotations__ = {"which": int, "return": hint}
    return made(give, name=f"give_{number}", description="Give", background=True)


TYPED = [returning(number, *answer) for number, answer in enumerate(ANSWERS)]
#: The results as JSON, by tool.
RESULTS = {
    f"give_{number}": [{"result": TypeAdapter(hint).dump_python(value, mode="json")} for value in values]
    for number, (hint, values) in enumerate(ANSWERS)
}


class Books(Tool):
    """Books."""

    output_schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}},
        "required": ["name"],
    }

    @action(description="Write one", properties={}, background=True)
    def write(self, data, ctx):
        return {"name": "lamp", "next": {"name": "bulb"}}

    @action(description="Find one", properties={})
    def find(self, data, ctx):
        return {"name": "lamp"}


class Report(BaseTool):
    """Writes a report."""

    options = {"background": True}
    input_schema = {"type": "object"}
    output_schema = {"type": "object", "properties": {"price": {"type": "integer"}}}

    def run(self, arguments, ctx):
        return {"price": 3, "name": "lamp"}


@asynccontextmanager
async def connected(path, mode):
    transport = httpx2.ASGITransport(app=get_asgi_application())
    async with (
        httpx2.AsyncClient(transport=transport) as http,
        Client(streamable_http_client(f"http://testserver/{path}", http_client=http), mode=mode) as client,
    ):
        yield client


async def fetched(client, name, **arguments):
    """What the work of a call returned, as the client accepts it."""
    receipt = await client.call_tool(name, arguments)
    result = await client.call_tool("task_result", receipt.structured_content)
    assert not result.is_error
    return result.structured_content


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize("path", ["mcp", "amcp"])
async def test_it_accepts_the_results_of_many_tools_that_overlap(path, mode):
    with testing.served(*TYPED, Books, Report):
        async with connected(path, mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            results = {
                name: [await fetched(client, name, which=which) for which in range(len(values))]
                for name, values in RESULTS.items()
            }
            written = await fetched(client, "books", action="write")
            reported = await fetched(client, "report")
            found = await client.call_tool("books", {"action": "find"})

    assert results == RESULTS
    assert written == {"result": {"name": "lamp", "next": {"name": "bulb"}}}
    assert reported == {"result": {"price": 3, "name": "lamp"}}
    assert found.structured_content == {"name": "lamp"}
    # Each of them is in what was checked.
    published = tools["task_result"].output_schema["properties"]["result"]
    assert len(published["anyOf"]) == len(TYPED) + 2


@pytest.mark.parametrize("first", range(len(TYPED)))
def test_of_any_two_tools_the_results_of_both_are_accepted(first):
    for second in range(first):
        with testing.served(TYPED[first], TYPED[second]):
            whole = catalog("default").whole
            published = whole.definition(whole.get("task_result"))["outputSchema"]
        checker = Draft202012Validator(published)
        for number in (first, second):
            assert [list(checker.iter_errors(result)) for result in RESULTS[f"give_{number}"]] == [
                [] for _ in RESULTS[f"give_{number}"]
            ]
