"""A cache that fails."""

from __future__ import annotations

from django.core.cache.backends.locmem import LocMemCache

OPERATIONS = ("add", "get", "set", "delete", "get_many", "delete_many")


class Failing(LocMemCache):
    """A cache of which operations fail that a test says."""

    failing: frozenset[str] = frozenset()
    #: Whether nobody ever gets a lock.
    is_locked = False

    def add(self, *args, **options):
        return self._done("add", *args, **options) and not self.is_locked

    def get(self, *args, **options):
        return self._done("get", *args, **options)

    def set(self, *args, **options):
        return self._done("set", *args, **options)

    def delete(self, *args, **options):
        return self._done("delete", *args, **options)

    def get_many(self, *args, **options):
        return self._done("get_many", *args, **options)

    def delete_many(self, *args, **options):
        return self._done("delete_many", *args, **options)

    def _done(self, operation, *args, **options):
        if operation in self.failing:
            raise ConnectionError(f"{operation} is down" + "!" * 1000)
        return getattr(super(), operation)(*args, **options)
