"""What a test may leave behind for the next one, which comes in any order."""

from __future__ import annotations

import contextvars
import logging
import os
import signal
import sys
import threading
import time

from django.core.cache import caches
from django.db import connections
from django.urls import get_script_prefix, get_urlconf
from django.utils import timezone, translation

from django_mcp import conf, signals
from django_mcp.authoring import declare
from django_mcp.dispatch import tasks
from django_mcp.policy import clock, timeout

_SIGNALS = {event.name: event.signal for event in signals.EVENTS}
_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
#: Loggers that tests change.
_LOGGERS = (None, "django_mcp", "django", "django.request", "asyncio")
#: Threads of the package's, of which none outlives what started it.
_OWN = ("django_mcp", "mcp-")


def forget():
    """Forget what is there to outlive a request: caches, and the language and time zone of the last one."""
    for alias in caches:
        caches[alias].clear()
    tasks._instance.cache_clear()
    translation.deactivate()
    timezone.deactivate()


def state():
    """What must be after a test as it was before it, by name."""
    return {
        **{f"receivers of {name}": {key for key, *_ in one.receivers} for name, one in _SIGNALS.items()},
        **{f"handler of {number!r}": signal.getsignal(number) for number in _HANDLED},
        **{f"logger {name}": _logger(logging.getLogger(name)) for name in _LOGGERS},
        "disabled logging": logging.root.manager.disable,
        "environment": {**os.environ, "PYTEST_CURRENT_TEST": ""},
        "directory": os.getcwd(),
        "import path": [*sys.path],
        "hooks": (sys.excepthook, threading.excepthook),
        "context": {
            variable.name: value
            for variable, value in contextvars.copy_context().items()
            if variable.name.startswith("django_mcp") and value is not None
        },
        # The settings of a server are compared by identity, and renewed when any setting changes.
        "settings": repr(conf.get()),
        "transactions of requests": {
            alias: connections.settings[alias]["ATOMIC_REQUESTS"] for alias in connections
        },
        "urls": (get_urlconf(), get_script_prefix()),
        "declarations": declare.declarations(),
        "clock": clock.get(),
        "handlers that outlive their time": timeout.outliving(),
    }


def _logger(logger):
    return logger.level, logger.disabled, logger.propagate, [*logger.filters]


def own_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith(_OWN)}


def left_running(before):
    """The package's threads that do not end, though they are given all the time they may need."""
    until = time.monotonic() + 60
    while (left := own_threads() - before) and time.monotonic() < until:
        time.sleep(0.01)
    return left
