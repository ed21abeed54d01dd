"""Which tools a server serves: `TAGS`, then `INCLUDE`, then `EXCLUDE`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from django_mcp.conf import ServerSettings
from django_mcp.registry.registration import Registration
from django_mcp.schema.offence import Offence


def select(registrations: Sequence[Registration], settings: ServerSettings) -> list[Registration]:
    return [
        registration
        for registration in registrations
        if (settings.tags is None or registration.tags.intersection(settings.tags))
        and (settings.include is None or _matches(registration.name, settings.include))
        and not _matches(registration.name, settings.exclude or ())
    ]


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def offences(registrations: Sequence[Registration], settings: ServerSettings) -> Iterable[Offence]:
    """What a filter names that does not exist, judged against the unfiltered tools."""
    if settings.tags is None and settings.include is None and not settings.exclude:
        return
    declared = sorted(set().union(*(registration.tags for registration in registrations)))
    names = sorted(registration.name for registration in registrations)
    unknown = sorted(set(settings.tags or ()) - set(declared))
    if unknown:
        yield Offence(
            rule="filter-tag-unknown",
            message=f"Server {settings.key}: TAGS names {', '.join(unknown)}; "
            f"declared tags are {', '.join(declared) or 'none'}.",
            fix="Correct the tag, or tag a tool with it.",
            callback="TAGS",
        )
    for setting, patterns in (("INCLUDE", settings.include), ("EXCLUDE", settings.exclude)):
        for pattern in sorted(patterns or ()):
            if not _matches_any(names, pattern):
                yield Offence(
                    rule=f"filter-{setting.lower()}-dead",
                    message=f"Server {settings.key}: {setting} pattern {pattern!r} matches no tool of "
                    f"{', '.join(names)}.",
                    fix="Correct the pattern (case counts) or remove it.",
                    callback=setting,
                )
    if not select(registrations, settings):
        yield Offence(
            rule="filter-empty",
            message=f"Server {settings.key}: its filters leave no tool to serve.",
            fix="Widen TAGS or INCLUDE, or narrow EXCLUDE.",
            callback="SERVERS",
        )


def _matches_any(names: Iterable[str], pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)
