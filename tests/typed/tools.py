"""Typed tools for one test, and what is published of them."""

from __future__ import annotations

import re

from django_mcp import testing, tool
from django_mcp.checks import check_mcp
from django_mcp.encoding.normalise import normalise
from django_mcp.registry.catalog import catalog

LIVE = {"django_mcp.source": "live", "django_mcp.degraded": False}


def made(function, **options):
    """A function as `@tool` leaves it, served only where a test serves it."""
    with testing.served():
        return tool(**options)(function)


def taking(hint, *default):
    """A tool with one argument `value`, which it shows as Python has it."""

    def show(value):
        return repr(value)

    show.__annotations__ = {"value": hint, "return": str}
    show.__defaults__ = default
    return made(show, description="Show")


def returning(hint, value):
    """A tool that returns a value."""

    def give():
        return value

    give.__annotations__ = {"return": hint}
    return made(give, description="Give")


def only(declared):
    with testing.served(declared):
        [registration, _] = catalog("default").registrations
    return registration


def definition(declared):
    """The only tool of a declaration as tools/list has it."""
    with testing.served(declared):
        return normalise(catalog("default").whole.definition(only(declared)))


def argument(declared):
    """The published schema of the argument `value`."""
    return definition(declared)["inputSchema"]["properties"]["value"]


def found(*declared):
    """The offences of these declarations, as (id, message, hint without its place)."""
    with testing.served(*declared):
        return [
            (one.id.removeprefix("django_mcp."), one.msg, re.sub(r" \([^()]*:\d+\)$", "", one.hint))
            for one in check_mcp(None)
        ]
