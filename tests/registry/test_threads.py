"""Requests that come at once find a catalog that is built once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from django_mcp import Tool, conf, testing
from django_mcp.authoring import declare
from django_mcp.registry import catalog as registry


class Crowded:
    """A lock that holds its first owner back until somebody else wants it too."""

    def __init__(self):
        self._lock = threading.RLock()
        self._wanted = threading.Semaphore(0)

    def __enter__(self):
        self._wanted.release()
        self._lock.acquire()
        return self

    def __exit__(self, *exc):
        self._lock.release()

    def wait_for_two(self):
        for _ in range(2):
            assert self._wanted.acquire(timeout=10)


def test_threads_that_ask_first_at_once_build_once(monkeypatch):
    read, lock = [], Crowded()

    class Slow(Tool):
        """Read while the other thread waits."""

        actions = {}

        def title(self):
            read.append("title")
            lock.wait_for_two()

        def run_action(self, action, data, ctx):
            return {}

    monkeypatch.setattr(registry, "_lock", lock)
    with testing.served(Slow), ThreadPoolExecutor(2) as threads:
        first, second = threads.map(registry.catalog, ["default", "default"])
    assert first is second
    assert read == ["title"]


def test_threads_that_find_the_state_but_no_catalog_build_it_once(monkeypatch):
    class Plain(Tool):
        """Plain."""

        actions = {}

        def run_action(self, action, data, ctx):
            return {}

    with testing.served(Plain):
        state = registry._renewed(conf.get(), declare.declarations())
        lock, built = Crowded(), []
        build = state.catalog

        def slow(server):
            lock.wait_for_two()
            built.append(server)
            return build(server)

        monkeypatch.setattr(registry, "_lock", lock)
        monkeypatch.setattr(state, "catalog", slow)
        with ThreadPoolExecutor(2) as threads:
            first, second = threads.map(registry.catalog, ["default", "default"])
    assert first is second
    assert built == ["default"]
