"""The state of circuit breakers, and the two places it is kept in."""

from __future__ import annotations

import hashlib
import json
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, TypeVar

from django.core.cache import caches

from django_mcp.policy import clock
from django_mcp.policy.axes import Slice
from django_mcp.policy.options import Breaker
from django_mcp.policy.outage import Outage

_T = TypeVar("_T")

Phase = Literal["closed", "open", "half_open"]

#: Tenants a breaker knows at once; the one that was not used for the longest time is forgotten.
TENANTS: Final = 1000


@dataclass(slots=True)
class State:
    """One breaker. Knows neither time nor place: whoever asks says what time it is."""

    phase: Phase = "closed"
    #: The last outcomes while it is closed: True is a failure.
    outcomes: list[bool] = field(default_factory=list)
    #: When it opened.
    opened: float = 0.0
    #: When the probe that is under way began.
    probe: float | None = None
    #: Grows with every opening and closing, so that a call from before is not counted after.
    generation: int = 0

    def admit(self, reset_timeout: float, now: float) -> float | None:
        """None where a call may pass; else the seconds until one may, zero where a probe is waited for."""
        left = self.left(reset_timeout, now)
        if self.phase == "closed":
            return None
        if self.phase == "open":
            if left:
                return left
            self.phase, self.probe = "half_open", None
        # A probe that never came back (a process that died) must not keep calls away for ever.
        if self.probe is not None and now - self.probe < reset_timeout:
            return 0.0
        self.probe = now
        return None

    def left(self, reset_timeout: float, now: float) -> float | None:
        """Seconds until an open breaker lets a probe through; None for one that is not open."""
        return max(0.0, self.opened + reset_timeout - now) if self.phase == "open" else None

    def settle(self, ticket: int, failed: bool | None, window: int, threshold: int, now: float) -> None:
        """Take in how a call ended that was admitted in generation `ticket`; None is neither way."""
        if ticket != self.generation:
            return
        if self.phase == "half_open":
            self.probe = None
            if failed is None:
                return
            self._turn("open" if failed else "closed", now)
        elif failed is not None:
            self.outcomes = [*self.outcomes, failed][-window:]
            if sum(self.outcomes) >= threshold:
                self._turn("open", now)

    def _turn(self, phase: Phase, now: float) -> None:
        self.phase, self.outcomes, self.opened = phase, [], now
        self.generation += 1


class States(ABC):
    """The breakers of one tool or action, by tenant."""

    @abstractmethod
    def change(self, key: Slice, step: Callable[[State], _T]) -> _T | None:
        """What a step returns that alone reads and changes a state; None where no state can be had."""

    @abstractmethod
    def now(self) -> float: ...


class LocalStates(States):
    """Kept in this process."""

    def __init__(self) -> None:
        self._states: OrderedDict[Slice, State] = OrderedDict()
        self._lock = threading.Lock()

    def change(self, key: Slice, step: Callable[[State], _T]) -> _T:
        with self._lock:
            state = self._states.setdefault(key, State())
            self._states.move_to_end(key)
            if len(self._states) > TENANTS:
                self._states.popitem(last=False)
            return step(state)

    def now(self) -> float:
        return clock.get().monotonic()


class SharedStates(States):
    """Kept in a cache of the site, for every process that uses it.

    A state is locked by adding a key to the cache, which only one can. A lock is let go after `_LEASE_S`
    seconds, so that a process that died holds up nobody for longer, and is waited for `_PATIENCE_S` at most:
    what is there to keep calls away from what is slow must not be what they wait for.
    """

    _LEASE_S = 5
    _PATIENCE_S = 1
    _PAUSE_S = 0.005

    def __init__(self, label: str, options: Breaker, cache: str) -> None:
        self._prefix = f"django_mcp:breaker:{_digest(label)}"
        self._cache = cache
        # Long enough for a breaker to be half open for a while; one that nobody calls is as new after it.
        self._keep = int(options.reset_timeout * 10) + 3600
        self._outage = Outage(cache, f"the breaker of {label} lets every call pass.")

    def change(self, key: Slice, step: Callable[[State], _T]) -> _T | None:
        if self._outage.lasts:
            return None
        try:
            return self._changed(key, step)
        except Exception as raised:
            self._outage.begin(raised)
            return None

    def _changed(self, key: Slice, step: Callable[[State], _T]) -> _T:
        cache, place = caches[self._cache], f"{self._prefix}:{_digest(key)}"
        with self._locked(place):
            stored = cache.get(place)
            state = State() if stored is None else _state(stored)
            before = asdict(state)
            outcome = step(state)
            if asdict(state) != before:
                cache.set(place, json.dumps([key, asdict(state)]), self._keep)
                if state.phase != before["phase"]:
                    self._remember(place)
        return outcome

    def now(self) -> float:
        return clock.get().wall()

    def items(self) -> list[tuple[Slice, State]]:
        """Those that were ever open; one that never was has nothing to tell."""
        cache = caches[self._cache]
        found = cache.get_many(sorted(cache.get(self._index, ())))
        return sorted((_slice(stored), _state(stored)) for stored in found.values())

    def clear(self) -> None:
        """Make all as new."""
        cache = caches[self._cache]
        cache.delete_many(sorted(cache.get(self._index, ())))
        cache.delete(self._index)

    @property
    def _index(self) -> str:
        return f"{self._prefix}:all"

    def _remember(self, place: str) -> None:
        """The cache cannot list its keys, so those worth a look are kept in one of their own."""
        cache = caches[self._cache]
        with self._locked(self._index):
            known = cache.get(self._index, [])
            if place not in known:
                cache.set(self._index, [*known, place][-TENANTS:], None)

    @contextmanager
    def _locked(self, place: str) -> Iterator[None]:
        cache, lock = caches[self._cache], f"{place}:lock"
        until = clock.get().monotonic() + self._PATIENCE_S
        while not cache.add(lock, True, self._LEASE_S):
            if clock.get().monotonic() >= until:
                raise TimeoutError(f"The lock of a breaker was not free for {self._PATIENCE_S} s.")
            clock.get().sleep(self._PAUSE_S)
        try:
            yield
        finally:
            cache.delete(lock)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


def _state(stored: str) -> State:
    return State(**json.loads(stored)[1])


def _slice(stored: str) -> Slice:
    return tuple((name, value) for name, value in json.loads(stored)[0])
