from __future__ import annotations

import hypothesis
import pytest
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.utils import timezone, translation

from tests.wire import wire

__all__ = ["wire"]

# How long an example takes says something about the machine, not about the product.
hypothesis.settings.register_profile("django_mcp", deadline=None)
hypothesis.settings.load_profile("django_mcp")


@pytest.fixture(autouse=True)
def site_language():
    """The language and time zone of the site: Django's middleware leaves those of its last request behind."""
    yield
    translation.deactivate()
    timezone.deactivate()


#: Connections to in-memory databases, of whatever thread.
_opened = []


@receiver(connection_created)
def _remember(connection, **kwargs):
    _opened.append(connection.connection)


def pytest_unconfigure():
    """Close the in-memory databases, which Django leaves open: Python 3.13 warns of those that end unclosed."""
    for connection in _opened:
        connection.close()
