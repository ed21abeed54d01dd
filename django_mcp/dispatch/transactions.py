"""The transaction a handler runs in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from django.db import connections, transaction


def around() -> AbstractContextManager[Any] | None:
    """A transaction on every alias that has one around requests; None where there is none."""
    aliases = None
    for alias, config in connections.settings.items():
        if config["ATOMIC_REQUESTS"]:
            aliases = [alias] if aliases is None else [*aliases, alias]
    if aliases is None:
        return None
    return transaction.atomic(using=aliases[0]) if len(aliases) == 1 else _together(aliases)


@contextmanager
def _together(aliases: list[str]) -> Iterator[None]:
    with ExitStack() as stack:
        for alias in aliases:
            stack.enter_context(transaction.atomic(using=alias))
        yield
