"""What kind of failure an exception is, and how its answer is coded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.utils.module_loading import import_string

from django_mcp import conf
from django_mcp.errors import (
    AttemptTimeout,
    CircuitOpen,
    ComponentUnavailable,
    DeadlineExceeded,
    PermanentError,
    RetryExhausted,
    TransientError,
)

logger = logging.getLogger("django_mcp")

Kind = Literal["transient", "permanent"]

_TRANSIENT: Final = (TransientError, OperationalError, InterfaceError)
_PERMANENT: Final = (PermanentError, ValidationError, PermissionDenied, ObjectDoesNotExist, Http404)


def classify(raised: BaseException) -> Kind | None:
    """Whether a failure passes by itself: by the site's `CLASSIFIER`, else by what is known of Django.

    None: nobody knows, so nothing is promised. A classifier that fails is logged and counts as not knowing:
    it is asked while another failure is being answered.
    """
    path = conf.get().classifier
    kind = None if path is None else _by_site(path, raised)
    if kind is None and isinstance(raised, _TRANSIENT):
        return "transient"
    if kind is None and isinstance(raised, _PERMANENT):
        return "permanent"
    return kind


def _by_site(path: str, raised: BaseException) -> Kind | None:
    try:
        kind: Any = _site_classifier(path)(raised)
        if kind not in ("transient", "permanent", None):
            raise ValueError(f'CLASSIFIER must return "transient", "permanent" or None, not {kind!r}.')
    except Exception:
        logger.exception("The classifier %s failed on %s.", path, type(raised).__name__)
        return None
    known: Kind | None = kind
    return known


@lru_cache(maxsize=8)
def _site_classifier(path: str) -> Callable[[BaseException], Any]:
    classifier: Callable[[BaseException], Any] = import_string(path)
    return classifier


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
