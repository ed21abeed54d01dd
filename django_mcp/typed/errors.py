from __future__ import annotations

from django_mcp.schema.values import Problems


class Underivable(Exception):
    """No schema comes out of a function. `rule` names the rule it breaks, `fix` what to write instead."""

    def __init__(self, rule: str, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.rule = rule
        self.problem = problem
        self.fix = fix


def absent(name: str | None) -> Underivable:
    """A hint that names what only type checkers import."""
    return Underivable(
        "typed-hint",
        f"a hint names {name}, which is not there at run time",
        f"Import {name} at the top of the module, outside of `if TYPE_CHECKING`; schemas are made of the "
        "hints.",
    )


class Unconvertible(Exception):
    """Arguments that the schema accepts and a validator refuses: what is wrong by path."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("A validator refuses the arguments.")
        self.problems = problems
