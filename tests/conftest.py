from __future__ import annotations

import hypothesis
import pytest
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from django_mcp.authoring import progress
from tests import leaks
from tests.wire import wire

__all__ = ["wire"]

# How long an example takes says something about the machine, not about the product; and the same code passes or
# fails the same way every time.
hypothesis.settings.register_profile(
    "django_mcp", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("django_mcp")

#: What was there before a test.
_BEFORE = pytest.StashKey()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[_BEFORE] = leaks.state(), leaks.own_threads()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    """A test that leaves something behind fails itself, not whichever comes after it in the order of the day."""
    yield
    before, threads = item.stash[_BEFORE]
    assert leaks.left_running(threads) == set()
    leaks.forget()
    after = leaks.state()
    assert {name: (was, after[name]) for name, was in before.items() if was != after[name]} == {}


@pytest.fixture
def one_interval(monkeypatch):
    """All that a call reports comes within the time that passes between two reports, however slow the machine."""
    monkeypatch.setattr(progress, "INTERVAL_S", 3600)


#: Connections to in-memory databases, of whatever thread.
_opened = []


@receiver(connection_created)
def _remember(connection, **kwargs):
    _opened.append(connection.connection)


def pytest_unconfigure():
    """Close the in-memory databases, which Django leaves open: Python 3.13 warns of those that end unclosed."""
    for connection in _opened:
        connection.close()
