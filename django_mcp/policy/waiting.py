"""Waiting in a thread, which nothing interrupts, for what another call does."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Final, TypeVar

from django_mcp.authoring.progress import Cancelled
from django_mcp.errors import DeadlineExceeded
from django_mcp.policy.call import Call

_T = TypeVar("_T")

#: Seconds between two looks at whether the caller has left.
LOOK_S: Final = 0.5


def wait(future: Future[_T], call: Call) -> _T:
    """What a future ends with. Raises Cancelled where the caller leaves, DeadlineExceeded in the end."""
    while True:
        left = call.left()
        try:
            return future.result(LOOK_S if left is None else min(LOOK_S, max(0.0, left)))
        except TimeoutError:
            if call.cancelled:
                raise Cancelled from None
            if left is not None and left <= LOOK_S:
                raise too_late() from None


def too_late() -> DeadlineExceeded:
    return DeadlineExceeded("The time of the call was over before it was its turn.")
