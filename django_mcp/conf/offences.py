"""Everything that is wrong with the settings, all at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.utils.module_loading import import_string

from django_mcp.conf.reading import declared, read
from django_mcp.conf.table import WHOLE
from django_mcp.schema.offence import Offence


def offences() -> list[Offence]:
    """Every misconfiguration of `DJANGO_MCP`. Imports what its dotted paths name."""
    raw = declared()
    found = [
        Offence(
            rule=problem.rule,
            message=f"DJANGO_MCP{problem.place} {problem.text}.",
            fix=problem.fix,
            callback=_key(problem.place),
        )
        for problem in WHOLE.problems(raw, deep=True)
    ]
    found += _misspelt()
    servers, site = read(raw)
    for key, server in servers.items():
        found += _server_offences(key, server)
    if site["cache"] not in settings.CACHES:
        found.append(
            Offence(
                rule="setting-cache-unknown",
                message=f'DJANGO_MCP["CACHE"] is {site["cache"]!r}, which is no alias in CACHES.',
                fix=f"Write one of {', '.join(settings.CACHES)}, or add the alias to CACHES.",
                callback="CACHE",
            )
        )
    return found


def deploy_offences() -> Iterator[Offence]:
    """What is right for development and questionable in production."""
    servers, _ = read(declared())
    for key, server in servers.items():
        if server["auth"] is None:
            yield Offence(
                rule="deploy-open",
                message=f"Server {key}: AUTH is not set, so everybody may call its tools.",
                fix="Set AUTH, or silence this check where everybody is meant to.",
                callback="AUTH",
                warning=True,
            )


def _misspelt() -> Iterator[Offence]:
    """Settings under a name that is nearly DJANGO_MCP: nobody reads them, and defaults serve everybody."""
    if hasattr(settings, "DJANGO_MCP"):
        return
    written = [name for name in dir(settings) if name.isupper()]
    for name in difflib.get_close_matches("DJANGO_MCP", written, cutoff=0.8):
        yield Offence(
            rule="setting-misspelt",
            message=f"The setting {name} is nearly DJANGO_MCP, which is not set.",
            fix="Did you mean DJANGO_MCP?",
            callback="DJANGO_MCP",
            warning=True,
        )


def _key(place: str) -> str:
    """The top-level key a place lies under."""
    key = re.match(r'\["(\w+)"\]', place)
    return "DJANGO_MCP" if key is None else key[1]


def _server_offences(key: str, server: dict[str, Any]) -> Iterator[Offence]:
    if server["auth"] is None:
        return
    if server["cache_scope"] == "public":
        yield Offence(
            rule="setting-cache-scope-public",
            message=f"Server {key}: CACHE_SCOPE is 'public' while AUTH decides who may call, so one caller's "
            "tools could be shown to another.",
            fix="Leave CACHE_SCOPE at 'private', or serve the public tools from a server of their own.",
            callback="CACHE_SCOPE",
        )
    try:
        auth = import_string(server["auth"])
    except ImportError:
        return
    missing = {
        "INSTALLED_APPS": [app for app in getattr(auth, "required_apps", ()) if not apps.is_installed(app)],
        "MIDDLEWARE": [path for path in getattr(auth, "required_middleware", ()) if not _runs(path)],
    }
    for name, paths in missing.items():
        for path in paths:
            yield Offence(
                rule="setting-auth-needs",
                message=f"Server {key}: AUTH is {server['auth']!r}, which needs {path!r} in {name}.",
                fix=f"Add it to {name}.",
                callback="AUTH",
            )
    if getattr(auth, "cookie_based", False):
        for name, values in (
            ("ALLOWED_ORIGINS", server["allowed_origins"]),
            ("ALLOWED_HOSTS", settings.ALLOWED_HOSTS),
        ):
            if "*" in values:
                yield Offence(
                    rule="setting-cookies-any-origin",
                    message=f"Server {key}: {name} holds '*' while AUTH accepts the session cookie, so any "
                    "web site a user visits could call tools as that user.",
                    fix=f"List what may call in {name}, or use token authentication.",
                    callback=name,
                )


def _runs(middleware: str) -> bool:
    """Whether a middleware is in use, itself or as a subclass."""
    wanted = import_string(middleware)
    for path in settings.MIDDLEWARE:
        try:
            found = import_string(path)
        except ImportError:
            # Django says so when the site starts.
            continue
        if isinstance(found, type) and issubclass(found, wanted):
            return True
    return False
