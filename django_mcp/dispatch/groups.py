"""What an exception group comes to, for a call that ends in one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from django_mcp.authoring.elicitation import Interruption


def essence(raised: BaseException) -> BaseException:
    """What a task group comes to: its failures, else the interruption that made it cancel its tasks, else
    that it was cancelled.
    """
    if not isinstance(raised, BaseExceptionGroup):
        return raised
    failures = raised.split((Interruption, asyncio.CancelledError))[1]
    if failures is not None:
        return failures
    leaves = list(_leaves(raised))
    return next((leaf for leaf in leaves if isinstance(leaf, Interruption)), leaves[0])


def _leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for inner in group.exceptions:
        if isinstance(inner, BaseExceptionGroup):
            yield from _leaves(inner)
        else:
            yield inner
