"""The settings of this package, `DJANGO_MCP`, read once.

Nothing else reads Django's settings. `get` never raises for a misconfigured value: it stands at its default
there, and `offences` tells, so that `manage.py check` shows everything at once and no server with an offence
is served.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from django.conf import settings as django_settings
from django.core.signals import setting_changed
from django.dispatch import receiver
from django.http.request import split_domain_port, validate_host

from django_mcp.authoring.errors import ConfigurationError
from django_mcp.conf.offences import deploy_offences, offences
from django_mcp.conf.reading import declared, read
from django_mcp.conf.table import LEGACY_VERSIONS, SETTINGS, Setting

__all__ = [
    "LEGACY_VERSIONS",
    "SETTINGS",
    "ServerSettings",
    "Setting",
    "Settings",
    "deploy_offences",
    "get",
    "has_urls",
    "host_allowed",
    "is_debug",
    "is_shared_cache",
    "names_site",
    "offences",
]


@dataclass(frozen=True, slots=True, eq=False)
class ServerSettings:
    """What one server is configured to be; `key` is its name in `SERVERS`, `default` for the top level.

    Every other field is the setting of its name, documented in `SETTINGS`. Compared by identity, so that what
    depends on all of it can be kept for it.
    """

    key: str
    name: str
    version: str
    server_info: Mapping[str, Any]
    instructions: str | None
    auth: str | None
    www_authenticate: Mapping[str, str | Callable[..., Any]]
    protected_resource: Mapping[str, Any] | None
    allowed_origins: tuple[str, ...]
    legacy_versions: tuple[str, ...]
    lenient_version_header: bool
    wire_checks: tuple[str, ...] | None
    confirm_destructive: bool
    tags: tuple[str, ...] | None
    include: tuple[str, ...] | None
    exclude: tuple[str, ...] | None
    axes: Mapping[str, Mapping[str, str]]
    cache_ttl_ms: int
    cache_scope: Literal["private", "public"]
    max_body_bytes: int
    max_json_values: int
    state_max_age_s: int
    call_timeout: float | None
    stream_keepalive_s: float
    inline_refs: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """What the whole site is configured to be. `expose_faults` is on with `DEBUG` too."""

    servers: Mapping[str, ServerSettings]
    classifier: str | None
    policies: Mapping[str, Mapping[str, Any]]
    formats: Mapping[str, Callable[[str], bool] | None]
    tasks: Mapping[str, Any]
    cache: str
    expose_faults: bool
    log_signals: bool

    def server(self, name: str) -> ServerSettings:
        """The settings of one server. Raises ConfigurationError for a name that is not configured."""
        try:
            return self.servers[name]
        except KeyError:
            known = ", ".join(self.servers)
            message = f'There is no server {name!r} in DJANGO_MCP["SERVERS"]; there are {known}.'
            raise ConfigurationError("DJANGO_MCP", "SERVERS", message) from None


_lock = threading.Lock()
_current: Settings | None = None


def get() -> Settings:
    """The settings of now: the same object until they change."""
    global _current
    current = _current
    if current is None:
        # Threads that find nothing at once have to end with one object: others compare it by identity.
        with _lock:
            current = _current = _current or _build()
    return current


def narrow(server: str, names: tuple[str, ...]) -> None:
    """Serve these tools alone, for the life of this process."""
    global _current
    settings = get()
    narrowed = replace(settings.server(server), tags=None, include=names, exclude=None)
    _current = replace(settings, servers={**settings.servers, server: narrowed})


def _build() -> Settings:
    servers, whole = read(declared())
    whole["expose_faults"] = whole["expose_faults"] or django_settings.DEBUG
    return Settings(
        servers={key: ServerSettings(key=key, **values) for key, values in servers.items()},
        **whole,
    )


def is_debug() -> bool:
    """Whether the site is in development (DEBUG)."""
    return bool(django_settings.DEBUG)


def is_shared_cache(alias: str) -> bool:
    """Whether a cache remembers for every process, and of two that add a key at once tells one (CACHES)."""
    backend: str = django_settings.CACHES.get(alias, {}).get("BACKEND", "")
    return bool(backend) and not backend.endswith(("LocMemCache", "DummyCache", "FileBasedCache"))


def has_urls() -> bool:
    """Whether the site has a URLconf at all (ROOT_URLCONF)."""
    return bool(getattr(django_settings, "ROOT_URLCONF", None))


def names_site(host: str) -> bool:
    """Whether a Host header alone names this site, so that Django need not parse it anew each time."""
    return _is_one_of(host, _hosts())


@lru_cache(maxsize=1)
def _hosts() -> tuple[str, ...]:
    """The hosts a Host header alone may name: none where a proxy may name another one beside it."""
    return () if django_settings.USE_X_FORWARDED_HOST else tuple(django_settings.ALLOWED_HOSTS)


def host_allowed(host: str) -> bool:
    """Whether `host`, with or without a port, is one of this site's (ALLOWED_HOSTS, as Django reads it)."""
    allowed = django_settings.ALLOWED_HOSTS
    if not allowed and django_settings.DEBUG:
        allowed = [".localhost", "127.0.0.1", "[::1]"]
    return _is_one_of(host, tuple(allowed))


@lru_cache(maxsize=256)
def _is_one_of(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


@receiver(setting_changed)
def _reset(*, setting: str, **kwargs: Any) -> None:
    global _current
    if setting in ("DJANGO_MCP", "DEBUG"):
        _current = None
    _hosts.cache_clear()
