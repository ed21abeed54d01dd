"""Another attempt after a failure that passes by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import tenacity

from django_mcp import signals
from django_mcp.authoring.progress import Cancelled
from django_mcp.errors import DeadlineExceeded, RetryExhausted, TransientError
from django_mcp.policy import clock
from django_mcp.policy.call import Call
from django_mcp.policy.classify import is_transient
from django_mcp.policy.options import Retry
from django_mcp.schema import bound

logger = logging.getLogger("django_mcp")


class RetryLink:
    def __init__(self, label: str, options: Retry) -> None:
        self._label = label
        wait = tenacity.wait_random_exponential if options.jitter else tenacity.wait_exponential
        self._options: dict[str, Any] = {
            "stop": tenacity.stop_after_attempt(options.attempts),
            "wait": wait(multiplier=options.base_delay, max=options.max_delay),
            "retry": tenacity.retry_if_exception(_is_worth_it),
            "retry_error_callback": self._give_up,
        }

    def call(self, inner: Callable[[Call], Any], call: Call) -> Any:
        def tell(state: tenacity.RetryCallState) -> None:
            if call.cancelled:
                raise Cancelled from _failure(state)
            self._go_on(call, state)

        # Tenacity keeps what it counts in the object, so every call has one of its own.
        retrying = tenacity.Retrying(sleep=clock.get().sleep, before_sleep=tell, **self._options)
        return retrying(inner, call)

    async def acall(self, inner: Callable[[Call], Awaitable[Any]], call: Call) -> Any:
        async def tell(state: tenacity.RetryCallState) -> None:
            if call.cancelled:
                raise asyncio.CancelledError from _failure(state)
            await call.in_thread(self._go_on, call, state)

        async def attempt() -> Any:
            return await inner(call)

        retrying = tenacity.AsyncRetrying(sleep=clock.get().asleep, before_sleep=tell, **self._options)
        return await retrying(attempt)

    def _give_up(self, state: tenacity.RetryCallState) -> Any:
        last, attempts = _failure(state), state.attempt_number
        logger.warning("%s failed in %d attempts.", self._label, attempts, exc_info=last)
        text = f"{self._label} was tried {attempts} times and failed each time."
        if isinstance(last, TransientError) and str(last):
            # What these say is meant for the caller.
            text += f" The last time: {last}"
        raise RetryExhausted(text, attempts=attempts, last_error=last) from last

    def _go_on(self, call: Call, state: tenacity.RetryCallState) -> None:
        left = call.left()
        if left is not None and state.upcoming_sleep >= left:
            text = f"{self._label} failed, and no time is left to try it again."
            raise DeadlineExceeded(text) from _failure(state)
        _tell(call, state)


def _is_worth_it(raised: BaseException) -> bool:
    # Where the time of the whole call is over, none is left for another attempt.
    return is_transient(raised) and not isinstance(raised, DeadlineExceeded)


def _tell(call: Call, state: tenacity.RetryCallState) -> None:
    raised = _failure(state)
    call.signal(
        signals.attempt_retried,
        attempt=state.attempt_number,
        delay=state.upcoming_sleep,
        exception=type(raised).__name__,
        error=bound.render(raised),
    )


def _failure(state: tenacity.RetryCallState) -> BaseException:
    assert state.outcome is not None
    raised = state.outcome.exception()
    assert raised is not None
    return raised
