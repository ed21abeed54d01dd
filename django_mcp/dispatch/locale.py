"""The language and the time zone of a caller, carried to where its work is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

from django.utils import timezone, translation


def snapshot() -> dict[str, Any]:
    """What is active now, as plain JSON, to be activated elsewhere.

    A time zone is its name, or the minutes of a fixed offset; None where it has neither.
    """
    zone = timezone.get_current_timezone()
    name, offset = getattr(zone, "key", None), zone.utcoffset(None)
    minutes = None if offset is None else offset // timedelta(minutes=1)
    return {"language": translation.get_language(), "time_zone": name or minutes}


@contextmanager
def activated(taken: Mapping[str, Any]) -> Iterator[None]:
    """Activate what `snapshot` took while the block runs; what it lacks stays as it is here."""
    zone = taken.get("time_zone")
    with ExitStack() as stack:
        if "language" in taken:
            stack.enter_context(translation.override(taken["language"]))
        if zone is not None:
            found = timezone.get_fixed_timezone(zone) if isinstance(zone, int) else zone
            stack.enter_context(timezone.override(found))
        yield
