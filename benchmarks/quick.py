"""The whole WSGI handler in one process, as ratios to a view written by hand: `make bench-quick`.

Everything is measured in turns of a few milliseconds, so that a machine that is slow for a while is slow for
all.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import jsonschema

from benchmarks.answers import own, results
from benchmarks.figures import Ratio, table
from benchmarks.floor import views
from benchmarks.scenarios import ITEMS, SCENARIOS, Scenario

# isort: split
from django.conf import settings
from django.db import connections
from django.test import RequestFactory
from django.urls import include, path

from django_mcp.views import MCPView

#: At most so many times the floor, whose answer is as large.
TARGETS = {
    "call_ok": 1.10,
    "call_refused": 1.20,
    "call_typed": 1.25,
    "list_1": 1.00,
    "list_50": 1.00,
    "list_5x10": 1.00,
    "atomic": 1.10,
}
ROUNDS = 15
TURNS = 16
CALLS = 12


@dataclass(slots=True)
class Runner:
    """One way to answer one request, and what it cost in every round, in microseconds a request."""

    name: str
    handle: Callable[[], None]
    #: Requests that cost much are made less often.
    calls: int = CALLS
    costs: list[float] = field(default_factory=list)

    def turn(self) -> float:
        started = time.process_time()
        for _ in range(self.calls):
            self.handle()
        return (time.process_time() - started) / self.calls * 1e6


def handler(scenario: Scenario, view: Any) -> Callable[[], None]:
    """Answer the scenario's request through all of Django, by a site whose only URL is this one."""
    body = scenario.body(is_own=True)
    environ = (
        RequestFactory()
        .generic(
            "POST",
            "/mcp",
            body,
            content_type="application/json",
            # Every client sends Host; Django's request factory does not.
            headers={
                "Host": "testserver",
                **{key: value for key, value in scenario.headers().items() if key != "Content-Type"},
            },
        )
        .environ
    )
    urlconf = (path("mcp", *view),)
    wsgi = own.wsgi

    def handle() -> None:
        settings.ROOT_URLCONF = urlconf
        response = wsgi({**environ, "wsgi.input": io.BytesIO(body)}, lambda status, headers: None)
        for _ in response:
            pass
        response.close()

    return handle


def measure(runners: list[Runner]) -> None:
    for runner in runners:
        runner.turn()
    for _ in range(ROUNDS):
        spent = [0.0] * len(runners)
        for _ in range(TURNS):
            for number, runner in enumerate(runners):
                spent[number] += runner.turn() / TURNS
        for number, runner in enumerate(runners):
            runner.costs.append(spent[number])


def mounted(scenario: Scenario) -> tuple[Any, ...]:
    """At one path, as the floor is."""
    return (MCPView.as_view(server=scenario.shape),)


def included(scenario: Scenario) -> tuple[Any, ...]:
    """With a URLconf of its own, which Django looks through too."""
    return include("django_mcp.urls"), {"server": scenario.shape}


def main() -> None:
    answers = results()
    scenarios = {scenario.name: scenario for scenario in SCENARIOS}
    runners: dict[str, Runner] = {}
    for name, scenario in scenarios.items():
        calls = 1 if name == "call_bulk" else CALLS
        floor = views(answers[name])[0]
        runners[f"floor {name}"] = Runner(name, handler(scenario, (floor,)), calls)
        runners[name] = Runner(name, handler(scenario, mounted(scenario)), calls)
    call = scenarios["call_ok"]
    runners["included"] = Runner("included", handler(call, included(call)))
    runners["floor again"] = Runner("floor again", handler(call, (views(answers["call_ok"])[0],)))
    schema = {"type": "object", "properties": own.BULK, "required": ["items"], "additionalProperties": False}
    validator = jsonschema.Draft202012Validator(schema)
    runners["jsonschema"] = Runner("jsonschema", lambda: validator.validate({"items": ITEMS}), 1)
    measure(list(runners.values()))

    connections.settings["default"]["ATOMIC_REQUESTS"] = True
    atomic = [
        Runner("floor atomic", handler(call, (views(answers["call_ok"])[0],))),
        Runner("atomic", handler(call, mounted(call))),
        Runner("floor atomic again", handler(call, (views(answers["call_ok"])[0],))),
    ]
    measure(atomic)
    report(runners, atomic, scenarios)


def report(runners: dict[str, Runner], atomic: list[Runner], scenarios: dict[str, Scenario]) -> None:
    small = runners["floor call_ok"].costs
    noise = Ratio.of(runners["floor again"].costs, small)
    rows = [_row("floor / floor, tools/call", noise, runners["floor again"], None, 0.0)]
    met = True
    for name, scenario in scenarios.items():
        target = TARGETS.get(name)
        beside = Ratio.of(runners[name].costs, runners[f"floor {name}"].costs)
        rows.append(_row(f"{scenario.title} / floor", beside, runners[name], target, noise.spread))
        met = met and (target is None or beside.median <= target + noise.spread)
    beside = Ratio.of(runners["included"].costs, small)
    rows.append(_row("tools/call, mounted with include() / floor", beside, runners["included"], None, 0.0))
    beside = Ratio.of(atomic[2].costs, atomic[0].costs)
    rows.append(_row("floor / floor, ATOMIC_REQUESTS", beside, atomic[2], None, 0.0))
    spread = beside.spread
    beside = Ratio.of(atomic[1].costs, atomic[0].costs)
    rows.append(_row("tools/call, ATOMIC_REQUESTS / floor", beside, atomic[1], TARGETS["atomic"], spread))
    met = met and beside.median <= TARGETS["atomic"] + spread
    lists = Ratio.of(runners["list_50"].costs, runners["list_1"].costs)
    rows.append(_row("tools/list, 50 tools / 1 tool", lists, runners["list_50"], 1.10, noise.spread))
    bulk = Ratio.of(runners["call_bulk"].costs, runners["jsonschema"].costs)
    rows.append(_row("1,000 items, whole call / jsonschema alone", bulk, runners["call_bulk"], 0.05, 0.0))
    met = met and lists.median <= 1.10 + noise.spread and bulk.median <= 0.05
    print(table(["", "µs", "median", "min", "max", "target", "met"], rows))
    print(f"\n{ROUNDS} rounds of {TURNS * CALLS} requests a row. Ratios of CPU time within a round.")
    print(f"The floor against itself: the middle half of the rounds within ±{noise.spread:.2f} of 1.")
    sys.exit(0 if met else 1)


def _row(label: str, ratio: Ratio, runner: Runner, target: float | None, spread: float) -> list[str]:
    told = [label, f"{median(runner.costs):.0f}", *ratio.cells()]
    if target is None:
        return [*told, "", ""]
    return [*told, f"{target:.2f}", "yes" if ratio.median <= target + spread else "no"]


if __name__ == "__main__":
    main()
