from __future__ import annotations

from django.http import HttpRequest

from django_mcp.protocol import jsonrpc
from django_mcp.transports.http.checks import WireCheck, exchange


class Classify(WireCheck):
    """What kind of JSON-RPC message the body is, and whether its id can be answered under."""

    name = "classify"
    reasons = frozenset(
        {"batch", "not_an_object", "invalid_id", "jsonrpc_version", "invalid_method", "invalid_params_type"}
    )

    def check(self, request: HttpRequest) -> None:
        exchange(request).message = jsonrpc.classify(exchange(request).body)
