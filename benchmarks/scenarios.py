"""What is sent, the same to everybody as far as their tools go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = "2026-07-28"
_PREFIX: Final = "io.modelcontextprotocol/"
_META: Final = {
    f"{_PREFIX}protocolVersion": VERSION,
    f"{_PREFIX}clientInfo": {"name": "bench", "version": "1.0.0"},
    f"{_PREFIX}clientCapabilities": {},
}

ITEMS: Final = [{"sku": f"sku-{n}", "qty": n, "price": n + 0.5} for n in range(1000)]
_GOOD: Final = {"name": "Write the report", "priority": 3}
_BAD: Final = {"name": 5, "priority": "high"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One request. `shape` is the set of tools that is served: `one`, `fifty`, `grouped` or `calls`.

    `own` are the arguments as this project takes them, `peer` as tools of one action do. `expects` is the
    number of tools of a list, else a text that the answer holds.
    """

    name: str
    title: str
    shape: str
    method: str
    expects: int | str
    tool: str = ""
    own: Mapping[str, Any] | None = None
    peer: Mapping[str, Any] | None = None

    @property
    def peer_shape(self) -> str:
        """Peers have no actions: five tools of ten are fifty."""
        return "fifty" if self.shape == "grouped" else self.shape

    def headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": self.method,
        }
        return {**headers, "Mcp-Name": self.tool} if self.tool else headers

    def body(self, *, is_own: bool) -> bytes:
        params: dict[str, Any] = {"_meta": _META}
        if self.tool:
            params |= {"name": self.tool, "arguments": self.own if is_own else self.peer}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": params}).encode()

    def check(self, status: int, body: bytes, *, is_own: bool) -> None:
        """Raise unless this is the answer; a list of this project holds the tool `help` besides."""
        if isinstance(self.expects, str):
            assert self.expects in body.decode() or not is_own, body[:500]
            # A refusal is no result: an error, or a result that says so.
            told = json.loads(body)
            refused = "error" in told or bool(told["result"].get("isError"))
            assert refused == (self.name == "call_refused"), body[:500]
        else:
            assert status == 200, body[:500]
            count = len(json.loads(body)["result"]["tools"])
            expected = self.expects + 1 if is_own else (50 if self.shape == "grouped" else self.expects)
            assert count == expected, count


def _call(name: str, title: str, shape: str, expects: str, tool: str, own: Any, peer: Any) -> Scenario:
    return Scenario(name, title, shape, "tools/call", expects, tool, own, peer)


SCENARIOS: Final = (
    Scenario("list_1", "tools/list, 1 tool", "one", "tools/list", 1),
    Scenario("list_50", "tools/list, 50 tools", "fifty", "tools/list", 50),
    Scenario("list_5x10", "tools/list, 5 tools of 10 actions", "grouped", "tools/list", 5),
    _call(
        "call_ok",
        "tools/call",
        "one",
        "created Write the report",
        "tasks",
        {"action": "create", "data": _GOOD},
        _GOOD,
    ),
    _call(
        "call_refused",
        "tools/call, refused",
        "one",
        "invalid_values",
        "tasks",
        {"action": "create", "data": _BAD},
        _BAD,
    ),
    _call("call_typed", "tools/call, typed", "calls", "created Write the report", "typed", _GOOD, _GOOD),
    _call(
        "call_bulk",
        "tools/call, 1,000 items",
        "calls",
        "imported 1000",
        "bulk",
        {"action": "add", "data": {"items": ITEMS}},
        {"items": ITEMS},
    ),
)
