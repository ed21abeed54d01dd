"""Answers kept for a while, in a cache of the site."""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any

from django.core.cache import caches

from django_mcp.encoding import codec
from django_mcp.policy import axes, clock, waiting
from django_mcp.policy.call import Call
from django_mcp.policy.options import Cache
from django_mcp.policy.outage import Outage

#: Holds the failure of its call as a result, so that one nobody waits for is no failure of the future's.
Flight = Future[bytes | BaseException]


class CacheLink:
    """Of calls that are the same and come at once, one runs: the others wait for its answer.

    What is kept is the answer as it goes out, secrets masked, never an object of the site. Calls are the same
    where all that `_key` takes in is.
    """

    def __init__(self, label: str, options: Cache, cache: str) -> None:
        self._label = label
        self._options = options
        self._cache = cache
        self._outage = Outage(cache, f"answers of {label} are not kept.")
        #: Calls under way, each to end in its answer or in what ended it.
        self._flights: dict[str, Flight] = {}
        self._lock = threading.Lock()

    def call(self, inner: Callable[[Call], Any], call: Call) -> Any:
        key = self._key(call)
        while True:
            flight, leads = self._join(key)
            if leads:
                return self._lead(inner, call, key, flight)
            answer = self._landed(call, waiting.wait(flight, call))
            if answer is not None:
                return answer

    async def acall(self, inner: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
        key = await call.in_thread(self._key, call)
        while True:
            flight, leads = self._join(key)
            if leads:
                return await self._alead(inner, call, key, flight)
            # Shielded: whoever stops waiting must not end what others wait for.
            answer = self._landed(call, await asyncio.shield(asyncio.wrap_future(flight)))
            if answer is not None:
                return answer

    def _lead(self, inner: Callable[[Call], Any], call: Call, key: str, flight: Flight) -> Any:
        outcome: Any = None
        try:
            found = self._read(call, key)
            if found is not None:
                outcome, answer = found
                return answer
            answer = inner(call)
            outcome = self._write(call, key, answer)
            return answer
        except BaseException as raised:
            outcome = raised
            self._write_error(call, key, raised)
            raise
        finally:
            self._land(key, flight, outcome)

    async def _alead(
        self, inner: Callable[[Call], Awaitable[Any]], call: Call, key: str, flight: Flight
    ) -> Any:
        outcome: Any = None
        try:
            found = await call.in_thread(self._read, call, key)
            if found is not None:
                outcome, answer = found
                return answer
            answer = await inner(call)
            outcome = await call.in_thread(self._write, call, key, answer)
            return answer
        except BaseException as raised:
            outcome = raised
            await call.in_thread(self._write_error, call, key, raised)
            raise
        finally:
            self._land(key, flight, outcome)

    def _join(self, key: str) -> tuple[Flight, bool]:
        """The call that is under way, or the one that begins with this; whether it is this."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None:
                return flight, False
            flight = self._flights[key] = Future()
            return flight, True

    def _land(self, key: str, flight: Flight, outcome: Any) -> None:
        with self._lock:
            del self._flights[key]
        flight.set_result(outcome)

    def _landed(self, call: Call, outcome: bytes | BaseException) -> Any:
        """The answer of a call that this one waited for; None where it ended without one."""
        if isinstance(outcome, bytes):
            return self._hit(call, outcome)
        if isinstance(outcome, Exception):
            raise outcome
        # Cancelled, or ended by a question to its own user: somebody else has to run.
        return None

    def _hit(self, call: Call, kept: bytes) -> Any:
        answer = call.load(kept)
        call.outcome.source = "cache"
        return answer

    def _key(self, call: Call) -> str:
        tenants = [] if self._options.public else axes.slice_of_now()
        parts = [self._label, tenants, call.identity(public=self._options.public)]
        return f"django_mcp:answer:{hashlib.sha256(codec.encode(parts)).hexdigest()}"

    def _read(self, call: Call, key: str) -> tuple[bytes, Any] | None:
        """What is kept, and the answer it is; None too where the cache fails, for nothing kept is needed."""
        if self._outage.lasts:
            return None
        try:
            found = caches[self._cache].get(key)
        except Exception as raised:
            self._outage.begin(raised)
            return None
        try:
            if found is None or clock.get().wall() >= found[0]:
                return None
            return found[1], self._hit(call, found[1])
        except Exception as raised:
            # Kept by another version of this package, for one; it is about to be replaced.
            self._outage.tell(raised)
            return None

    def _write(self, call: Call, key: str, answer: Any) -> bytes:
        kept = call.dump(answer)
        if self._outage.lasts:
            return kept
        until = clock.get().wall() + self._options.ttl
        try:
            # Caches count whole seconds; the entry itself says to the fraction until when it is good.
            caches[self._cache].set(key, (until, kept), math.ceil(self._options.ttl))
        except Exception as raised:
            # It may be this one answer that is too large: others can be kept.
            self._outage.tell(raised)
        return kept

    def _write_error(self, call: Call, key: str, raised: BaseException) -> None:
        if self._options.cache_errors and isinstance(raised, Exception):
            answer = call.kept_error(raised)
            if answer is not None:
                self._write(call, key, answer)
