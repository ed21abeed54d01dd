"""What the gates and what stands around a handler cost, in microseconds: `python -m benchmarks.gates`.

Absolute figures mean something only beside others of the same run and machine.
"""

from __future__ import annotations

import os
import time
import timeit
from collections.abc import Callable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django_mcp import (  # noqa: E402 (after the app registry)
    Breaker,
    Cache,
    Policy,
    Retry,
    Timeout,
    Tool,
    action,
    testing,
)
from django_mcp.dispatch.run import Run, call  # noqa: E402
from django_mcp.registry.catalog import catalog  # noqa: E402

BREAKER = Breaker(window=20, failure_threshold=10, reset_timeout=30)
RETRY = Retry(attempts=3, base_delay=1, max_delay=5)


class Orders(Tool):
    """Orders of the shop."""

    actions = {  # noqa: RUF012 (read once, never changed)
        "create": {
            "description": "Three fields",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "due": {"type": "string", "format": "date"},
                "qty": {"type": "integer"},
            },
            "required": ["name"],
        },
        "import": {
            "description": "Many items",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}},
                        "required": ["sku"],
                    },
                },
                "words": {"type": "array", "items": {"type": "string"}},
                "code": {"type": "string", "pattern": "^(a+)+$"},
                "none": {"type": "object", "additionalProperties": False},
            },
        },
    }

    def run_action(self, action: str, data: dict[str, Any], ctx: Any) -> Any:
        return {}


class Plain(Tool):
    """One action as it is, and the same behind parts of a policy."""

    @action(description="Nothing stands in between", properties={}, read_only=True)
    def bare(self, data: Any, ctx: Any) -> Any:
        return {}

    @action(description="A breaker", properties={}, read_only=True, policy=Policy(breaker=BREAKER))
    def breaker(self, data: Any, ctx: Any) -> Any:
        return {}

    @action(description="Retries", properties={}, read_only=True, policy=Policy(retry=RETRY))
    def retry(self, data: Any, ctx: Any) -> Any:
        return {}

    @action(description="A cache", properties={}, read_only=True, policy=Policy(cache=Cache(ttl=60)))
    def cache(self, data: Any, ctx: Any) -> Any:
        return {}

    @action(description="A timeout", properties={}, read_only=True, policy=Policy(timeout=Timeout(60)))
    def timeout(self, data: Any, ctx: Any) -> Any:
        return {}


CREATE = {"action": "create", "data": {"name": "Lamp", "due": "2027-01-31", "qty": 3}}
BULK = {"action": "import", "data": {"items": [{"sku": f"s{n}", "qty": n} for n in range(1000)]}}
#: Input that was made to cost, and what the answer to it takes.
HOSTILE: dict[str, dict[str, Any]] = {
    "100,000 wrong items": {"words": list(range(99_000))},
    "100,000 unknown keys": {"none": {f"k{n}": 1 for n in range(99_000)}},
    "a key of 4 MB": {"k" * 4_000_000: 1},
    "a catastrophic pattern": {"code": "a" * 50_000 + "!"},
}


def measured(label: str, run: Callable[[], Any], number: int) -> None:
    best = min(timeit.repeat(run, number=number, repeat=5)) / number
    print(f"{label:32}{best * 1e6:12.1f}")


def main() -> None:
    with testing.served(Orders):
        ctx = testing.build_context()
        view = catalog("default").view(ctx)
        tool = view.get("orders")
        assert tool is not None
        entry, data = tool.actions["create"], CREATE["data"]
        measured(
            "value gate, three fields",
            lambda: (entry.gate.is_valid(data), entry.closure.integers(data)),
            20_000,
        )
        measured("all gates, three fields", lambda: Run(view, tool, CREATE, ctx)._gate(), 20_000)
        measured("all gates, 1,000 items", lambda: Run(view, tool, BULK, ctx)._gate(), 50)
        for label, hostile in HOSTILE.items():
            started = time.perf_counter()
            answer = call(view, tool, {"action": "import", "data": hostile}, ctx)
            size = len(answer.content[0]["text"])
            print(f"{label:32}{(time.perf_counter() - started) * 1e6:12.0f}  answered in {size} characters")
    with testing.served(Plain):
        ctx = testing.build_context()
        view = catalog("default").view(ctx)
        tool = view.get("plain")
        assert tool is not None
        run = Run(view, tool, {"action": "bare"}, ctx)
        run.open()
        measured("attempt of a bare action", lambda: run.attempt(run.handler, run.data, ctx), 20_000)
        measured("the same with what may stand by", run.execute, 20_000)
        for name in tool.actions:
            sent = {"action": name}
            measured(f"whole call: {name}", lambda sent=sent: call(view, tool, sent, ctx), 2_000)


if __name__ == "__main__":
    main()
