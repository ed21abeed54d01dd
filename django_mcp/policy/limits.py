"""How many calls run at once in this process."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from django_mcp.policy import axes, waiting
from django_mcp.policy.call import Call
from django_mcp.policy.options import Concurrency


class Slots:
    """So many slots, given in the order of asking, to threads and to tasks of any event loop."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()
        #: How many hold a slot or wait for one.
        self.users = 0

    def ask(self) -> Future[None]:
        """A future that is done once the slot is there."""
        slot: Future[None] = Future()
        with self._lock:
            if self._free:
                self._free -= 1
                slot.set_result(None)
            else:
                self._waiting.append(slot)
        return slot

    def give_back(self) -> None:
        with self._lock:
            while self._waiting:
                slot = self._waiting.popleft()
                # False for one whose asker has gone.
                if slot.set_running_or_notify_cancel():
                    slot.set_result(None)
                    return
            self._free += 1


class ConcurrencyLink:
    """A call takes a slot of its tenant first, then one of all, so that no tenant's queue delays another."""

    def __init__(self, options: Concurrency) -> None:
        self.limit = options.limit
        self._all = Slots(options.limit)
        self._per_axis = options.per_axis
        self._slices: dict[axes.Slice, Slots] = {}
        self._lock = threading.Lock()

    def call(self, inner: Callable[[Call], Any], call: Call) -> Any:
        with self._taken() as (wanted, held):
            for slots in wanted:
                _wait(slots, call)
                held.append(slots)
            return inner(call)

    async def acall(self, inner: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
        with self._taken() as (wanted, held):
            for slots in wanted:
                await _await(slots, call.left())
                held.append(slots)
            return await inner(call)

    @contextmanager
    def _taken(self) -> Iterator[tuple[list[Slots], list[Slots]]]:
        """The slots a call wants, and a list of those it got, which it gives back in the end."""
        held: list[Slots] = []
        with self._slice() as wanted:
            try:
                yield wanted, held
            finally:
                for slots in held:
                    slots.give_back()

    @contextmanager
    def _slice(self) -> Iterator[list[Slots]]:
        """The slots a call takes; those of a tenant are there as long as somebody uses them."""
        if self._per_axis is None:
            yield [self._all]
            return
        key = axes.slice_of_now()
        with self._lock:
            own = self._slices.setdefault(key, Slots(self._per_axis))
            own.users += 1
        try:
            yield [own, self._all]
        finally:
            with self._lock:
                own.users -= 1
                if not own.users:
                    del self._slices[key]


def _wait(slots: Slots, call: Call) -> None:
    slot = slots.ask()
    try:
        waiting.wait(slot, call)
    except BaseException:
        _leave(slots, slot)
        raise


async def _await(slots: Slots, left: float | None) -> None:
    slot = slots.ask()
    try:
        async with asyncio.timeout(left):
            await asyncio.wrap_future(slot)
    except asyncio.CancelledError:
        _leave(slots, slot)
        raise
    except TimeoutError:
        _leave(slots, slot)
        raise waiting.too_late() from None


def _leave(slots: Slots, slot: Future[None]) -> None:
    if not slot.cancel():
        # Given at the very moment the asker went away.
        slots.give_back()
