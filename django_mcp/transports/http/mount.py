"""How the site's URLs reach the endpoint, judged for `manage.py check`."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from django_mcp import conf
from django_mcp.schema.offence import Offence
from django_mcp.transports.http.view import MCPView

_URLCONFS = ("django_mcp.urls", "django_mcp.aurls")


def offences() -> Iterator[Offence]:
    """Mounts that some clients cannot reach, and views of servers that do not exist."""
    if conf.has_urls():
        yield from _judge(get_resolver(), None)


def _judge(resolver: URLResolver, server: str | None) -> Iterator[Offence]:
    """`server` is the one a URL pattern further out names for all below it."""
    server = resolver.default_kwargs.get("server", server)
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            yield from _view_offences(entry, server)
            continue
        prefix, urlconf = str(entry.pattern), getattr(entry.urlconf_module, "__name__", "")
        if urlconf in _URLCONFS and prefix.endswith("/"):
            yield Offence(
                rule="mount-slash",
                message=f"The endpoint is mounted at {prefix!r}, so the address without the slash "
                "is not answered.",
                fix=f'Write path("{prefix.rstrip("/")}", include("{urlconf}")): it answers with and without.',
                callback="ROOT_URLCONF",
                warning=True,
            )
        yield from _judge(entry, server)


def _view_offences(entry: URLPattern, server: str | None) -> Iterator[Offence]:
    view = getattr(entry.callback, "view_class", None)
    if view is None or not issubclass(view, MCPView):
        return
    initkwargs = getattr(entry.callback, "view_initkwargs", {})
    server = entry.default_args.get("server", server) or initkwargs.get("server", view.server)
    servers = conf.get().servers
    if server not in servers:
        yield Offence(
            rule="mount-server",
            message=f'A view serves {server!r}, which is no server of DJANGO_MCP["SERVERS"].',
            fix=f"Use one of {', '.join(servers)}, or configure the server.",
            callback="ROOT_URLCONF",
        )
