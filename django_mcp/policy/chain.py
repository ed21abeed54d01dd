"""The links around a handler, in their fixed order, put together once for each tool or action.

Degradation > concurrency > cache > breaker > retry > timeout > attempt. So a cached answer still takes a
slot but asks neither breaker nor handler; a breaker counts one call, however often it was tried; the time is
that of one attempt; a stand-in is neither cached nor tried again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

from django_mcp.authoring.progress import Cancelled
from django_mcp.policy.breaker import BreakerLink
from django_mcp.policy.cache import CacheLink
from django_mcp.policy.call import Call
from django_mcp.policy.degradation import DegradationLink
from django_mcp.policy.limits import ConcurrencyLink
from django_mcp.policy.options import Policy
from django_mcp.policy.retry import RetryLink
from django_mcp.policy.timeout import TimeoutLink

Step = Callable[[Call], Any]
AStep = Callable[[Call], Awaitable[Any]]


class Link(Protocol):
    def call(self, inner: Step, call: Call) -> Any: ...
    async def acall(self, inner: AStep, call: Call) -> Any: ...


def _attempt(call: Call) -> Any:
    return call.attempt(call.handler)


async def _aattempt(call: Call) -> Any:
    return await call.aattempt(call.handler)


class Chain:
    """What one tool's or action's calls go through. `label` names it in messages: `tool` or `tool action`.

    `run` and `arun` answer a call; they raise what no link deals with.
    """

    __slots__ = ("arun", "breaker", "label", "run")

    def __init__(self, label: str, policy: Policy, cache: str) -> None:
        self.label = label
        self.breaker = None if policy.breaker is None else BreakerLink(label, policy.breaker, cache)
        timeout = None if policy.timeout is None else TimeoutLink(label, policy.timeout)
        attempt: Step = _attempt if timeout is None else timeout.call
        aattempt: AStep = _aattempt if timeout is None else timeout.acall
        links: list[Link | None] = [
            None if policy.retry is None else RetryLink(label, policy.retry),
            self.breaker,
            None if policy.cache is None else CacheLink(label, policy.cache, cache),
            None if policy.concurrency is None else ConcurrencyLink(policy.concurrency),
            None if policy.degradation is None else DegradationLink(policy.degradation),
        ]
        self.run: Step = partial(_counted, attempt)
        self.arun: AStep = partial(_acounted, aattempt)
        for link in links:
            if link is not None:
                self.run = partial(link.call, self.run)
                self.arun = partial(link.acall, self.arun)


def _counted(attempt: Step, call: Call) -> Any:
    # Its caller may have left while it waited for its turn, or between two attempts.
    if call.cancelled:
        raise Cancelled
    call.outcome.attempts += 1
    return attempt(call)


async def _acounted(attempt: AStep, call: Call) -> Any:
    # Who waits on an event loop is cancelled there and then.
    call.outcome.attempts += 1
    return await attempt(call)
