"""This project, the floor and every peer over HTTP, in turns: `make bench`.

What is compared are CPU seconds of the server's processes for 1,000 requests. Requests a second and latency
say on a shared machine what its neighbours do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.figures import Ratio, table
from benchmarks.scenarios import SCENARIOS, Scenario
from benchmarks.servers import CONNECTIONS, ROOT, Load, Server, Target

ROUNDS = int(os.environ.get("ROUNDS", "5"))
#: Turns of a round, and about how long each loads a server: what costs much is asked less often.
TURNS = 4
TURN_S = 0.15

OWN = "django_mcp"
FLOOR = "floor"
WSGI = ("gunicorn threads", "granian WSGI")
#: The peers that are Django apps.
DJANGO = ("mcpz", "stateless")
TARGETS = (
    *(Target(FLOOR, server, "own", "floor") for server in WSGI),
    *(Target(OWN, server, "own", "own") for server in WSGI),
    *(Target("django-mcpz", server, "mcpz", "mcpz") for server in WSGI),
    *(Target("django-stateless-mcp", server, "stateless", "stateless", is_whole=False) for server in WSGI),
    Target(FLOOR, "uvicorn", "own", "floor", "/async/"),
    Target(OWN, "uvicorn", "own", "own"),
    Target(f"{OWN}, async view", "uvicorn", "own", "own", "/async/"),
    Target("django-mcpz", "uvicorn", "mcpz", "mcpz"),
    Target("django-stateless-mcp", "uvicorn", "stateless", "stateless", is_whole=False),
    Target("official SDK", "uvicorn", "sdk", "sdk", is_whole=False),
    Target("FastMCP", "uvicorn", "fastmcp", "fastmcp", is_whole=False),
)


class Row:
    """One scenario at one target."""

    def __init__(self, target: Target, scenario: Scenario, server: Server) -> None:
        self.target = target
        self.scenario = scenario
        self.server = server
        #: CPU seconds for 1,000 requests, by round.
        self.costs: list[float] = []
        is_own = target.name.startswith((OWN, FLOOR))
        shape = scenario.shape if is_own else scenario.peer_shape
        path = f"{target.prefix}{scenario.name if target.name == FLOOR else shape}"
        self._load = Load(server.port, path, scenario.headers(), scenario.body(is_own=is_own))
        scenario.check(*self._load.once(), is_own=is_own)
        started = time.perf_counter()
        self._load.run(40)
        self._requests = max(20, int(TURN_S / (time.perf_counter() - started) * 40))
        self._spent = 0.0

    def turn(self) -> None:
        before = self.server.cpu_seconds()
        self._load.run(self._requests)
        self._spent += self.server.cpu_seconds() - before

    def end_round(self) -> None:
        self.costs.append(self._spent / TURNS / self._requests * 1000)
        self._spent = 0.0


def main() -> None:
    environments = Path(sys.argv[1]).resolve()
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers.json"
        python = environments / "own" / "bin" / "python"
        subprocess.run([python, "-m", "benchmarks.answers", answers], cwd=ROOT, check=True)
        rows = []
        for target, shape, scenarios in _planned():
            server = Server(target, environments, {"SHAPE": shape, "ANSWERS": str(answers)})
            stack.callback(server.stop)
            server.wait()
            rows += [Row(target, scenario, server) for scenario in scenarios]
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        for number in range(ROUNDS):
            for scenario in SCENARIOS:
                asked = [row for row in rows if row.scenario is scenario]
                for row in asked * TURNS:
                    row.turn()
            for row in rows:
                row.end_round()
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
        report(rows)


def _planned() -> Iterator[tuple[Target, str, list[Scenario]]]:
    """Every process, its set of tools, and what it is asked."""
    for target in TARGETS:
        if target.is_whole:
            yield target, "", list(SCENARIOS)
            continue
        shapes = dict.fromkeys(scenario.peer_shape for scenario in SCENARIOS)
        for shape in shapes:
            yield target, shape, [scenario for scenario in SCENARIOS if scenario.peer_shape == shape]


def report(rows: list[Row]) -> None:
    print(
        f"{ROUNDS} rounds in turns, one worker each, {CONNECTIONS} connections. `cpu` is CPU seconds for "
        "1,000 requests; ratios are those of a round."
    )
    for scenario in SCENARIOS:
        asked = [row for row in rows if row.scenario is scenario]
        best = next(
            row for row in asked if row.target.name == OWN and row.target.server == "gunicorn threads"
        )
        listed = []
        for row in asked:
            floor = next(
                one for one in asked if (one.target.name, one.target.server) == (FLOOR, row.target.server)
            )
            listed.append(
                [
                    f"{row.target.name}, {row.target.server}",
                    f"{median(row.costs):.3f}",
                    *Ratio.of(row.costs, floor.costs).cells(),
                    *Ratio.of(row.costs, best.costs).cells(),
                ]
            )
        head = ["", "cpu", "/ floor", "min", "max", f"/ {OWN}, gunicorn", "min", "max"]
        print(f"\n### {scenario.title}\n")
        print(table(head, listed))
    behind = [line for scenario in SCENARIOS for line in _behind(scenario, rows)]
    print("\n### Ahead of every peer\n")
    print("\n".join(behind) or "Yes: of Django's on every server, of the others each on its own best server.")
    print("\n### Memory\n")
    servers = {id(row.server): row for row in rows}
    most = [
        [f"{row.target.name}, {row.target.server}", f"{row.server.peak_mb():.0f}"] for row in servers.values()
    ]
    print(table(["", "peak MB"], most))
    sys.exit(1 if behind else 0)


def _behind(scenario: Scenario, rows: list[Row]) -> Iterator[str]:
    """Peers that this project is not ahead of: Django's on the same server, others on their best one."""
    asked = [row for row in rows if row.scenario is scenario and row.target.name != FLOOR]
    own = [row for row in asked if row.target.name.startswith(OWN)]
    for peer in asked:
        if peer in own:
            continue
        is_django = peer.target.app in DJANGO
        beside = [row for row in own if not is_django or row.target.server == peer.target.server]
        found = min((Ratio.of(row.costs, peer.costs).median, row.target.server) for row in beside)
        if found[0] >= 1:
            yield f"* {scenario.title}: {found[0]:.2f} of {peer.target.name} on {peer.target.server}"


if __name__ == "__main__":
    main()
