"""What many tools and many actions cost, in one process: `make bench`.

`python -m benchmarks.growth check` is `manage.py check` of a site with a thousand actions, and
`python -m benchmarks.growth memory` what they take.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.apps.site import configure
from benchmarks.figures import Ratio, table

configure("django_mcp.urls", "django_mcp")

from django.core.management import call_command  # noqa: E402 (after the app registry)

from django_mcp import Tool, testing  # noqa: E402
from django_mcp.authoring import declare  # noqa: E402
from django_mcp.registry.catalog import catalog  # noqa: E402

PROPERTIES = {
    "name": {"type": "string", "minLength": 1, "description": "What it is called"},
    "due": {"type": ["string", "null"], "format": "date", "description": "By when"},
    "priority": {"type": "integer", "minimum": 0, "default": 3},
    "labels": {"type": "array", "items": {"type": "string"}},
}
ROUNDS = 9
CALLS = 150


def made(tools: int, actions: int) -> list[type[Tool]]:
    """So many tools of so many actions."""
    described = {
        f"create_{number:04}": {
            "description": "Create a task with a name.",
            "properties": PROPERTIES,
            "required": ["name"],
            "examples": [{"name": "Ship it"}],
        }
        for number in range(actions)
    }

    def run_action(self: Any, action: str, data: dict[str, Any], ctx: Any) -> Any:
        return {"message": f"created {data['name']}"}

    members = {"description": "Tasks.", "actions": described, "run_action": run_action}
    return [type("Tasks", (Tool,), {**members, "name": f"tasks_{number:04}"}) for number in range(tools)]


def costs(tools: int, actions: int) -> Callable[[], float]:
    """What measures one round of calls of the last action of the last tool, in microseconds a call."""
    declared = made(tools, actions)
    name, action = f"tasks_{tools - 1:04}", f"create_{actions - 1:04}"

    def turn() -> float:
        with testing.served(*declared):
            testing.run_tool(name, action=action, data={"name": "Ship it"})
            started = time.process_time()
            for _ in range(CALLS):
                testing.run_tool(name, action=action, data={"name": "Ship it"})
            return (time.process_time() - started) / CALLS * 1e6

    return turn


def grown(sizes: list[tuple[int, int]]) -> list[list[str]]:
    turns = [costs(tools, actions) for tools, actions in sizes]
    found: list[list[float]] = [[] for _ in sizes]
    for _ in range(ROUNDS):
        for figures, turn in zip(found, turns, strict=True):
            figures.append(turn())
    return [
        [f"{tools} x {actions}", f"{median(figures):.0f}", *Ratio.of(figures, found[0]).cells()]
        for (tools, actions), figures in zip(sizes, found, strict=True)
    ]


def built(tools: int, actions: int) -> float:
    """Seconds that the catalog of so many takes."""
    seconds = []
    for _ in range(3):
        with declare.replaced(made(tools, actions)):
            started = time.process_time()
            catalog("default")
            seconds.append(time.process_time() - started)
    return median(seconds)


def memory() -> None:
    """Print by how many KB the process grows that builds the catalog, what is not Python's included."""
    with declare.replaced(made(1, 1)):
        catalog("default")
    with declare.replaced(made(100, 10)):
        gc.collect()
        before = resident_kb()
        catalog("default")
        gc.collect()
        print(resident_kb() - before)


def resident_kb() -> int:
    # Not the peak, which a process inherits from the one that started it.
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


def check() -> None:
    with declare.replaced(made(100, 10)):
        call_command("check")


def apart(mode: str) -> str:
    """Do one thing in a process of its own, and return what it printed."""
    command = [sys.executable, "-m", "benchmarks.growth", mode]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    head = ["tools x actions", "µs a call", "/ first", "min", "max"]
    print(f"### A call, by what is registered\n\nThrough the server's own door, {ROUNDS} rounds in turns.\n")
    print(table(head, grown([(1, 1), (10, 1), (100, 1), (1000, 1)])))
    print()
    print(table(head, grown([(1, 1), (1, 10), (1, 50), (1, 200)])))
    seconds = built(100, 10)
    started = time.perf_counter()
    apart("check")
    whole = time.perf_counter() - started
    rows = [
        ["start-up: the registry of 1,000 actions", f"{seconds:.2f} s", "1 s"],
        ["`manage.py check` of them, the process from start to end", f"{whole:.2f} s", "3 s"],
        ["memory, an action", f"{int(apart('memory')) / 1000:.0f} KB", ""],
    ]
    print("\n### 1,000 actions in 100 tools\n")
    print(table(["", "measured", "at most"], rows))


if __name__ == "__main__":
    {"check": check, "memory": memory}.get(sys.argv[-1], main)()
