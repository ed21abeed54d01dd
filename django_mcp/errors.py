"""Failures that tell the caller what to do next. Raise them from handlers; each answers with a code of its
own.

The answer's text is the message, then a sentence that says what to do; its `_meta` holds the code, whether
calling again can help, and what else is known.
"""

from __future__ import annotations


class TransientError(Exception):
    """Something is wrong for the moment; the same call may succeed later."""


class ComponentUnavailable(TransientError):
    """Something the tool depends on is not there now."""


class DeadlineExceeded(TransientError):
    """The time for the whole call is over."""


class AttemptTimeout(TransientError):
    """One attempt took too long."""


class CircuitOpen(TransientError):
    """A circuit breaker keeps calls away. `retry_after`: seconds until it lets one through, if known."""

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RetryExhausted(TransientError):
    """Every attempt failed. `attempts` is how many were made, `last_error` what the last one raised."""

    def __init__(self, message: str = "", *, attempts: int, last_error: BaseException | None = None) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.last_error = last_error


class PermanentError(Exception):
    """The same call will fail again."""
