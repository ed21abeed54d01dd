"""Whether a failure passes by itself. One answer drives retries, breakers, stand-ins and the error table."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.utils.module_loading import import_string

from django_mcp import conf
from django_mcp.authoring.errors import ToolError
from django_mcp.errors import PermanentError, TransientError

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


def is_transient(raised: BaseException) -> bool:
    """Whether a handler's failure passes by itself.

    A ToolError is the tool's own answer, and what is no Exception (a question to the user, a cancellation) is
    no failure.
    """
    return (
        isinstance(raised, Exception)
        and not isinstance(raised, ToolError)
        and classify(raised) == "transient"
    )
