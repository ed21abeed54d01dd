"""From the mapping a site wrote to a value for every setting."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.conf import settings

from django_mcp.conf.kinds import Table
from django_mcp.conf.table import SETTINGS, Setting


def declared() -> Any:
    """`DJANGO_MCP` as the site wrote it, an empty mapping where it wrote none."""
    return getattr(settings, "DJANGO_MCP", {})


def read(raw: Any) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The fields of every server and of the whole site; what is misconfigured is at its default."""
    fields = {setting.name: _value(setting, raw, setting.default) for setting in SETTINGS}
    servers = {"default": {s.name.lower(): fields[s.name] for s in SETTINGS if s.per_server}}
    base = servers["default"]
    overrides = raw.get("SERVERS") if isinstance(raw, Mapping) else None
    if isinstance(overrides, Mapping):
        for key, override in overrides.items():
            if isinstance(key, str):
                servers[key] = {
                    s.name.lower(): _value(s, override, base[s.name.lower()])
                    for s in SETTINGS
                    if s.per_server
                }
    return servers, {
        s.name.lower(): fields[s.name] for s in SETTINGS if not s.per_server and s.name != "SERVERS"
    }


def _value(setting: Setting, written: Any, default: Any) -> Any:
    if not isinstance(written, Mapping) or setting.name not in written:
        return default
    value = written[setting.name]
    if any(setting.kind.problems(value)):
        return default
    frozen = setting.kind.freeze(value)
    if isinstance(setting.kind, Table):
        return MappingProxyType({**setting.default, **frozen})
    return frozen
