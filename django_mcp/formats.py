"""String types with a JSON Schema `format`, for the hints of typed tools."""

from __future__ import annotations

from django_mcp.typed.formats import (
    Date,
    DateTime,
    Email,
    Format,
    Hostname,
    Ipv4,
    Ipv6,
    JsonPointer,
    Regex,
    Time,
    Uri,
    Uuid,
)

__all__ = [
    "Date",
    "DateTime",
    "Email",
    "Format",
    "Hostname",
    "Ipv4",
    "Ipv6",
    "JsonPointer",
    "Regex",
    "Time",
    "Uri",
    "Uuid",
]
