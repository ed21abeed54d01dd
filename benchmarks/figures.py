"""Ratios of rounds, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True, slots=True)
class Ratio:
    """What the rounds say of one row: its cost in each, over that of the floor in the same round."""

    rounds: tuple[float, ...]

    @classmethod
    def of(cls, costs: Sequence[float], floors: Sequence[float]) -> Ratio:
        return cls(tuple(cost / floor for cost, floor in zip(costs, floors, strict=True)))

    @property
    def median(self) -> float:
        return median(self.rounds)

    @property
    def spread(self) -> float:
        """How far the middle half of the rounds lies from 1: for the floor against itself, chance."""
        low, _, high = quantiles(self.rounds, n=4)
        return max(abs(low - 1), abs(high - 1))

    def cells(self) -> list[str]:
        return [f"{figure:.2f}" for figure in (self.median, min(self.rounds), max(self.rounds))]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left and all others to the right."""
    listed = [list(head), *map(list, rows)]
    widths = [max(len(row[column]) for row in listed) for column in range(len(head))]
    written = [
        "| "
        + " | ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in listed
    ]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([written[0], "| " + " | ".join(rule) + " |", *written[1:]])
