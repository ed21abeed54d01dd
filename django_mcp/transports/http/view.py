from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import connections, transaction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import classonlymethod
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from django_mcp.transports.http import pipeline, responses


class MCPView(View):
    """An MCP endpoint (Streamable HTTP, MCP transports). `as_view(server="name")` serves one of `SERVERS`.

    Works under WSGI and ASGI; handlers that are `async def` are run to their end in the request's thread.
    """

    #: Name of the server that is served.
    server = "default"
    http_method_names = ["post"]  # noqa: RUF012 (Django's own declaration)

    @classonlymethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., Any]:
        # Clients of a machine protocol have neither CSRF tokens nor a login page; the origin check and AUTH stand in
        # their place. Each call opens its own transaction, so the view itself runs in none.
        view = csrf_exempt(login_not_required(super().as_view(**initkwargs)))
        for alias in connections:
            view = transaction.non_atomic_requests(using=alias)(view)
        return view

    def post(self, request: HttpRequest) -> Any:
        """One JSON-RPC message in, its answer out."""
        return pipeline.run(request, self.server)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = responses.method_not_allowed(request)
        pipeline.announce(request, self.server)
        return response


class AsyncMCPView(MCPView):
    """The endpoint for ASGI: handlers that are `async def` are awaited on the event loop."""

    async def post(self, request: HttpRequest) -> HttpResponse:
        """One JSON-RPC message in, its answer out."""
        return await pipeline.arun(request, self.server)

    async def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = responses.method_not_allowed(request)
        await pipeline.aannounce(request, self.server)
        return response


@csrf_exempt
@login_not_required
def not_found(request: HttpRequest) -> HttpResponse:
    """What lies below the endpoint: nothing, said in JSON."""
    response = responses.not_found(request)
    pipeline.announce(request, MCPView.server)
    return response
