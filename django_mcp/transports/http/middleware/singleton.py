from __future__ import annotations

from typing import Final

from django_mcp.protocol import versions
from django_mcp.transports.http.checks import Request, WireCheck

#: Headers of which a request has one at most, by their META keys.
SINGLETONS: Final = {
    "HTTP_MCP_PROTOCOL_VERSION": "MCP-Protocol-Version",
    "HTTP_MCP_METHOD": "Mcp-Method",
    "HTTP_MCP_NAME": "Mcp-Name",
}


class SingletonHeaders(WireCheck):
    """No mirrored header twice, since two readers could see two values.

    Servers join a repeated header with commas, and none of these values contains one.
    """

    name = "singleton"
    reasons = frozenset({"header_mismatch"})

    def check(self, request: Request) -> None:
        meta = request.META
        for key, header in SINGLETONS.items():
            if "," in meta.get(key, ""):
                text = f"The header {header} was sent more than once; send it exactly once."
                raise versions.mismatch(request.mcp.message, text)
