"""How the site's URLs reach the endpoint, judged for `manage.py check` and told to clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve
from django.urls.resolvers import RoutePattern

from django_mcp import conf
from django_mcp.schema.offence import Offence
from django_mcp.transports.http.view import MCPView

_URLCONFS = ("django_mcp.urls", "django_mcp.aurls")


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """A view of the site's URLs: its path as far as it is plain, its server, and what its URL gives it."""

    path: str
    server: str
    arguments: frozenset[str]


def offences() -> Iterator[Offence]:
    """Mounts that some clients cannot reach or nobody can, and views of servers that do not exist."""
    if not conf.has_urls():
        return
    for prefix, urlconf in _mounts(get_resolver()):
        yield Offence(
            rule="mount-slash",
            message=f"The endpoint is mounted at {prefix!r}, so the address without the slash "
            "is not answered.",
            fix=f'Write path("{prefix.rstrip("/")}", include("{urlconf}")): it answers with and without.',
            callback="ROOT_URLCONF",
            warning=True,
        )
    for endpoint in _endpoints(get_resolver(), "", None, frozenset()):
        yield from _endpoint_offences(endpoint)


def address(server: str) -> str | None:
    """The path of the first endpoint that serves a server; None where the site's URLs lead to none."""
    if not conf.has_urls():
        return None
    for endpoint in _endpoints(get_resolver(), "/", None, frozenset()):
        if endpoint.server == server and _leads_to_endpoint(endpoint.path):
            return endpoint.path
    return None


def _leads_to_endpoint(path: str) -> bool:
    try:
        return "<" not in path and _is_endpoint(resolve(path).func)
    except Resolver404:
        return False


def _is_endpoint(view: object) -> bool:
    view_class = getattr(view, "view_class", None)
    return view_class is not None and issubclass(view_class, MCPView)


def _mounts(resolver: URLResolver) -> Iterator[tuple[str, str]]:
    """Every `include` of the endpoint whose prefix ends in a slash."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            continue
        prefix, urlconf = str(entry.pattern), getattr(entry.urlconf_module, "__name__", "")
        if urlconf in _URLCONFS and prefix.endswith("/"):
            yield prefix, urlconf
        yield from _mounts(entry)


def _endpoints(
    resolver: URLResolver, path: str, server: str | None, arguments: frozenset[str]
) -> Iterator[_Endpoint]:
    """`path`, `server` and `arguments` are what URL patterns further out say for all below them."""
    server = resolver.default_kwargs.get("server", server)
    arguments |= frozenset(resolver.default_kwargs)
    for entry in resolver.url_patterns:
        given = arguments | frozenset(entry.pattern.regex.groupindex)
        if isinstance(entry, URLResolver):
            yield from _endpoints(entry, path + str(entry.pattern), server, given)
        elif _is_endpoint(entry.callback):
            callback: Any = entry.callback
            view, initkwargs = callback.view_class, callback.view_initkwargs
            yield _Endpoint(
                path + str(entry.pattern) if isinstance(entry.pattern, RoutePattern) else path,
                entry.default_args.get("server", server) or initkwargs.get("server", view.server),
                given | frozenset(entry.default_args),
            )


def _endpoint_offences(endpoint: _Endpoint) -> Iterator[Offence]:
    stray = sorted(endpoint.arguments - {"server"})
    if stray:
        yield Offence(
            rule="mount-argument",
            message=f"A URL pattern gives the endpoint {', '.join(stray)}, and it takes server alone.",
            fix='Name a server by {"server": "..."}, and take everything else out of the pattern.',
            callback="ROOT_URLCONF",
        )
    servers = conf.get().servers
    if endpoint.server not in servers:
        yield Offence(
            rule="mount-server",
            message=f'A view serves {endpoint.server!r}, which is no server of DJANGO_MCP["SERVERS"].',
            fix=f"Use one of {', '.join(servers)}, or configure the server.",
            callback="ROOT_URLCONF",
        )
