from __future__ import annotations

from django_mcp.protocol import jsonrpc
from django_mcp.transports.http.checks import Request, WireCheck


class Classify(WireCheck):
    """What kind of JSON-RPC message the body is, and whether its id can be answered under."""

    name = "classify"
    reasons = frozenset(
        {"batch", "not_an_object", "invalid_id", "jsonrpc_version", "invalid_method", "invalid_params_type"}
    )

    def check(self, request: Request) -> None:
        opened = request.mcp
        opened.message = jsonrpc.classify(opened.body)
