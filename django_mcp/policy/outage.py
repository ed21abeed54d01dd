"""A cache that fails: no reason for a call to fail or to wait, and one to say so."""

from __future__ import annotations

import logging
import threading
from typing import Final

from django_mcp.policy import clock
from django_mcp.schema import bound

logger = logging.getLogger("django_mcp")

#: Seconds between two lines about the same thing; a cache that is down is asked by every call.
INTERVAL_S: Final = 60
#: Seconds for which a cache that failed is not asked: one that answers nothing lets each call wait.
REST_S: Final = 5


class Outage:
    """Remembers that a cache fails, and says what becomes of calls; `what` is the sentence that says it."""

    def __init__(self, cache: str, what: str) -> None:
        self._text = f"The cache {cache!r} fails: {what}"
        self._lock = threading.Lock()
        self._next = self._until = float("-inf")

    @property
    def lasts(self) -> bool:
        """Whether the cache failed so lately that it is not asked."""
        return clock.get().monotonic() < self._until

    def begin(self, raised: Exception) -> None:
        """Tell, and do without the cache for a while."""
        self._until = clock.get().monotonic() + REST_S
        self.tell(raised)

    def tell(self, raised: Exception) -> None:
        """Say that it failed, unless that was just said."""
        now = clock.get().monotonic()
        with self._lock:
            if now < self._next:
                return
            self._next = now + INTERVAL_S
        logger.error("%s (%s: %s)", self._text, type(raised).__name__, bound.render(raised))
