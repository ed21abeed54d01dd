"""The transactions a handler runs in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Final

from django.db import connections, transaction

#: No transaction.
NONE: Final = nullcontext()


def atomic() -> list[AbstractContextManager[Any]]:
    """A transaction on every alias that has one around requests."""
    settings = connections.settings.items()
    return [transaction.atomic(using=alias) for alias, config in settings if config["ATOMIC_REQUESTS"]]


def together(transactions: list[AbstractContextManager[Any]]) -> AbstractContextManager[Any]:
    """All of them as one."""
    if not transactions:
        return NONE
    return transactions[0] if len(transactions) == 1 else _nested(transactions)


@contextmanager
def _nested(transactions: list[AbstractContextManager[Any]]) -> Iterator[None]:
    with ExitStack() as stack:
        for one in transactions:
            stack.enter_context(one)
        yield
