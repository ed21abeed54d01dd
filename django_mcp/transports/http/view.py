from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.apps import apps
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, transaction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import classonlymethod
from django.views import View

from django_mcp.protocol.jsonrpc import INVALID_REQUEST, METHOD_NOT_FOUND, ProtocolError
from django_mcp.transports.http import pipeline, responses
from django_mcp.transports.http.responses import Source


def _exempt(view: Callable[..., Any]) -> Callable[..., Any]:
    # Clients of a machine protocol have neither CSRF tokens nor a login page; the origin check and AUTH stand
    # in their place. Each call opens its own transaction, so the view itself runs in none.
    # The mark itself, as the view is of our own making: Django's decorator would wrap it.
    view.csrf_exempt = True  # type: ignore[attr-defined]
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return login_not_required(view)


class MCPView(View):
    """An MCP endpoint (Streamable HTTP, MCP transports).

    Serves the server `default`; another of `SERVERS` is named by `as_view(server="name")`, or by the URL
    pattern: `path("staff", include("django_mcp.urls"), {"server": "name"})`. Works under WSGI and ASGI;
    handlers that are `async def` are run to their end in the request's thread. One instance answers every
    request, of which it keeps nothing.
    """

    server = "default"
    http_method_names = ["post"]  # noqa: RUF012 (Django's own declaration)

    @classonlymethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., Any]:
        if not apps.is_installed("django_mcp"):
            # Nobody would read the site's tools, and no check would say so.
            raise ImproperlyConfigured('The MCP endpoint needs "django_mcp" in INSTALLED_APPS.')
        # Judges the arguments, and bears the marks of a view.
        view = super().as_view(**initkwargs)
        endpoint = cls(**initkwargs)

        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            return endpoint.dispatch(request, *args, **kwargs)

        return _exempt(answer)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Answer a POST; there is no other verb to look for."""
        answer = self.post if request.method == "POST" else self.http_method_not_allowed
        return answer(request, *args, **kwargs)

    def post(self, request: HttpRequest, server: str | None = None) -> Any:
        """One JSON-RPC message in, its answer out."""
        return pipeline.run(request, server or self.server)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Refuse every verb but POST; answering a preflight (OPTIONS) is a CORS middleware's business."""
        response = _method_not_allowed(request)
        pipeline.announce(request, kwargs.get("server") or self.server)
        return response


class AsyncMCPView(MCPView):
    """The endpoint for ASGI: handlers that are `async def` are awaited on the event loop."""

    async def post(self, request: HttpRequest, server: str | None = None) -> HttpResponse:
        """One JSON-RPC message in, its answer out."""
        return await pipeline.arun(request, server or self.server)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self._not_allowed(request, kwargs.get("server") or self.server)

    async def _not_allowed(self, request: HttpRequest, server: str) -> HttpResponse:
        response = _method_not_allowed(request)
        await pipeline.aannounce(request, server)
        return response


@_exempt
def not_found(request: HttpRequest, server: str = MCPView.server) -> HttpResponse:
    """What lies below the endpoint: nothing, said in JSON."""
    text = "There is nothing at this path below the MCP endpoint."
    response = responses.reject(request, _VIEW, ProtocolError(404, METHOD_NOT_FOUND, "not_found", text))
    pipeline.announce(request, server)
    return response


def _method_not_allowed(request: HttpRequest) -> HttpResponse:
    error = ProtocolError(405, INVALID_REQUEST, "method_not_allowed", "Send JSON-RPC messages by POST.")
    return responses.reject(request, _VIEW, error, headers={"Allow": "POST"})


#: What is refused before any wire check.
_VIEW: Final = Source(MCPView, "view", frozenset({"method_not_allowed", "not_found"}))
