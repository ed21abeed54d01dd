"""A cache that fails: no reason for a call to fail, and one to say so."""

from __future__ import annotations

import logging
import threading
from typing import Final

from django_mcp.policy import clock
from django_mcp.schema import bound

logger = logging.getLogger("django_mcp")

#: Seconds between two lines about the same thing; a cache that is down is asked by every call.
INTERVAL_S: Final = 60


class Outage:
    """Says in the log what becomes of calls while a cache fails; `what` is the sentence that says it."""

    def __init__(self, cache: str, what: str) -> None:
        self._text = f"The cache {cache!r} fails: {what}"
        self._lock = threading.Lock()
        self._next = float("-inf")

    def tell(self, raised: Exception) -> None:
        now = clock.get().monotonic()
        with self._lock:
            if now < self._next:
                return
            self._next = now + INTERVAL_S
        logger.error("%s (%s: %s)", self._text, type(raised).__name__, bound.render(raised))
