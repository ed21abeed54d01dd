"""PostgreSQL has no text with NUL, and refuses a query that asks for one; SQLite merely finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DataError, connection


@contextmanager
def refused() -> Iterator[None]:
    """Refuse a query with NUL in its parameters while the block runs."""

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if any(isinstance(param, str) and "\0" in param for param in params or ()):
            raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield
