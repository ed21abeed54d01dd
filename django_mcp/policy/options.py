"""What an author writes as `policy`. Nothing is judged here: what is wrong is a system check error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Retry:
    """Start the handler again after a failure that passes by itself.

    `attempts` counts the first one. The pause before the second attempt is `base_delay` seconds, before each
    further one twice the last, never above `max_delay`; with `jitter` a random part of that.
    """

    attempts: int
    base_delay: float
    max_delay: float
    jitter: bool = True


@dataclass(frozen=True)
class Timeout:
    """Give up on one attempt after so many seconds."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Breaker:
    """Keep calls away from what fails: open once `failure_threshold` of the last `window` calls failed.

    After `reset_timeout` seconds one call is let through as a probe. With `shared` all processes have one
    breaker, kept in the cache that `DJANGO_MCP["CACHE"]` names; without, each has its own.
    """

    window: int
    failure_threshold: int
    reset_timeout: float
    shared: bool = False


@dataclass(frozen=True, kw_only=True)
class Cache:
    """Answer a repeated call from the cache that `DJANGO_MCP["CACHE"]` names, for `ttl` seconds.

    An answer is kept for the caller and the axes it was made for; `public` says that it is the same for all.
    With `cache_errors` errors that the tool means for the caller are kept, too.
    """

    ttl: float
    public: bool = False
    cache_errors: bool = False


@dataclass(frozen=True, kw_only=True)
class Concurrency:
    """Run at most `limit` calls at once in this process, at most `per_axis` of them for one tenant (axes)."""

    limit: int
    per_axis: int | None = None


@dataclass(frozen=True)
class Degradation:
    """Answer `stub(data, ctx)` in the place of a failure that passes by itself."""

    stub: Callable[[dict[str, Any], Any], Any]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a call goes through, in this order from the outside; what is None is not there."""

    degradation: Degradation | None = None
    concurrency: Concurrency | None = None
    cache: Cache | None = None
    breaker: Breaker | None = None
    retry: Retry | None = None
    timeout: Timeout | None = None
