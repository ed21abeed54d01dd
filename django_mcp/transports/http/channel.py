from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import Final

from django_mcp.protocol.jsonrpc import Response

#: Notifications kept for a client that reads slowly; the oldest gives way, the newest says more.
_KEPT: Final = 64


class Channel:
    """What a running call sends, and whether it has ended; written from its thread, read from another.

    Notifications and the end come over one channel, so that nothing is sent after the answer.
    """

    def __init__(self) -> None:
        self.ended = False
        #: The answer; None until the end, and after it where the call was given up.
        self.response: Response | None = None
        self._notifications: deque[bytes] = deque(maxlen=_KEPT)
        self._changed = threading.Condition()
        self._wake: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def notify(self, body: bytes) -> None:
        with self._changed:
            if not self.ended:
                self._notifications.append(body)
                self._tell()

    def end(self, response: Response | None) -> None:
        with self._changed:
            self.response = response
            self.ended = True
            self._tell()

    def taken(self) -> list[bytes]:
        """The notifications that have come since the last time."""
        with self._changed:
            bodies = list(self._notifications)
            self._notifications.clear()
            return bodies

    def wait(self, seconds: float | None = None) -> None:
        """Wait until there is something to read; at most some seconds."""
        with self._changed:
            self._changed.wait_for(self._is_ready, seconds)

    async def await_(self, seconds: float | None = None) -> None:
        """`wait` on the running event loop."""
        changed = asyncio.Event()
        with self._changed:
            if self._is_ready():
                return
            self._wake = asyncio.get_running_loop(), changed
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            pass
        finally:
            with self._changed:
                self._wake = None

    def _is_ready(self) -> bool:
        return self.ended or bool(self._notifications)

    def _tell(self) -> None:
        self._changed.notify_all()
        if self._wake is not None:
            loop, changed = self._wake
            loop.call_soon_threadsafe(changed.set)
