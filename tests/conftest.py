from __future__ import annotations

import hypothesis
from asgiref.sync import SyncToAsync
from django.db import connections

from tests.wire import wire

__all__ = ["wire"]

# How long an example takes says something about the machine, not about the product.
hypothesis.settings.register_profile("django_mcp", deadline=None)
hypothesis.settings.load_profile("django_mcp")


def pytest_unconfigure():
    """Close the in-memory databases, which Django leaves open: Python 3.13 warns of those that end unclosed."""
    close_databases()
    SyncToAsync.single_thread_executor.submit(close_databases).result()


def close_databases():
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            connection.connection.close()
