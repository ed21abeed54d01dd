"""The wire checks, one a module, in the order of `DEFAULT`."""

from __future__ import annotations

from typing import Final

_HERE = "django_mcp.transports.http.middleware"

#: The order, stated once. WIRE_CHECKS replaces it.
DEFAULT: Final = (
    f"{_HERE}.origin.Origin",
    f"{_HERE}.body.Body",
    f"{_HERE}.classify.Classify",
    f"{_HERE}.auth.Auth",
    f"{_HERE}.singleton.SingletonHeaders",
    f"{_HERE}.fields.ProtocolFields",
    f"{_HERE}.binding.HeaderBinding",
    f"{_HERE}.version.ProtocolVersion",
    f"{_HERE}.validate.Validate",
)
