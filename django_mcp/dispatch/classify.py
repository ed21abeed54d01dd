"""How the answer to an exception of `django_mcp.errors` is coded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django_mcp.errors import (
    AttemptTimeout,
    CircuitOpen,
    ComponentUnavailable,
    DeadlineExceeded,
    PermanentError,
    RetryExhausted,
    TransientError,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a failure is answered: code, whether calling again can help, a sentence for the model, `_meta`."""

    code: str
    retryable: bool
    hint: str
    meta: dict[str, Any]


def verdict(raised: BaseException) -> Verdict | None:
    """The verdict on an exception of `django_mcp.errors`; None for every other."""
    if isinstance(raised, CircuitOpen):
        return _circuit_open(raised.retry_after)
    if isinstance(raised, (DeadlineExceeded, AttemptTimeout)):
        return Verdict("timeout", True, "It took too long; calling again may work.", {})
    if isinstance(raised, RetryExhausted):
        hint = f"It was tried {raised.attempts} times already; wait before you call again."
        return Verdict("retry_exhausted", True, hint, {"django_mcp.attempts": raised.attempts})
    if isinstance(raised, ComponentUnavailable):
        return Verdict("unavailable", True, "Something it needs is not available now; call again later.", {})
    if isinstance(raised, TransientError):
        return Verdict("transient", True, "This passes by itself; calling again is safe.", {})
    if isinstance(raised, PermanentError):
        return Verdict("permanent", False, "Do not repeat the call with the same arguments.", {})
    return None


def _circuit_open(retry_after: float | None) -> Verdict:
    if retry_after is None:
        hint = "The circuit breaker is open and waits for a probe; do not call again at once."
        return Verdict("circuit_open", True, hint, {})
    hint = f"The circuit breaker is open; wait about {retry_after:.1f} seconds before you call again."
    return Verdict("circuit_open", True, hint, {"django_mcp.retry_after_s": round(retry_after, 3)})
