"""Every setting of `DJANGO_MCP`: kind, default, meaning. Documentation and checks say what stands here."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from django_mcp.conf.kinds import (
    BOOLEAN,
    CALLABLE,
    ORIGIN,
    PARAMETER,
    SECONDS,
    STRING,
    STRINGS,
    TOKEN,
    URL,
    DottedPath,
    Items,
    Keyed,
    Kind,
    Optional,
    Table,
    integer,
    one_of,
)
from django_mcp.conf.policies import POLICIES

#: Protocol revisions before 2026-07-28 that can be served, newest first.
LEGACY_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26")

_NOTHING: Final = MappingProxyType[str, Any]({})

_TASKS = MappingProxyType[str, Any](
    {
        "STORE": "django_mcp.background.store.OrmStore",
        "RUNNER": "django_mcp.background.runner.TasksRunner",
        "RETENTION_S": 300,
        "BACKEND": "default",
        "POLL_INTERVAL_MS": 1000,
    }
)

_ICON = Table(
    {
        "src": STRING,
        "mime_type": STRING,
        "sizes": Items(STRING, "a list of sizes such as '48x48' or 'any'"),
        "theme": one_of("light", "dark"),
    },
    required=("src",),
)
_SERVER_INFO = Table(
    {"title": STRING, "description": STRING, "website_url": URL, "icons": Items(_ICON, "a list of icons")}
)
_PROTECTED_RESOURCE = Table(
    {
        "resource": URL,
        "authorization_servers": Items(URL, "a list of at least one issuer URL", at_least=1),
        "jwks_uri": URL,
        "scopes_supported": STRINGS,
        "bearer_methods_supported": STRINGS,
        "resource_name": STRING,
        "resource_documentation": URL,
        "resource_policy_uri": URL,
        "resource_tos_uri": URL,
    },
    required=("resource", "authorization_servers"),
)


_AXIS = Table(
    {
        "axis": DottedPath("an Axis", lambda found: hasattr(found, "current")),
        "binder": DottedPath("a function of ctx and params"),
    },
    required=("axis", "binder"),
)
AXES: Final = Keyed(STRING, _AXIS, "a mapping of axis names to an axis and a binder")


def _authenticates(found: Any) -> bool:
    if isinstance(found, type) or not callable(found):
        return callable(getattr(found, "authenticate", None))
    return True


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of `DJANGO_MCP`; `per_server` ones may be overridden in `SERVERS`."""

    name: str
    kind: Kind
    default: Any
    description: str
    per_server: bool = True


_PER_SERVER = (
    Setting("NAME", STRING, "MCP Server", "Name of the server, in the `serverInfo` of every result."),
    Setting("VERSION", STRING, "1.0.0", "Version of the server, in the `serverInfo` of every result."),
    Setting(
        "SERVER_INFO",
        _SERVER_INFO,
        _NOTHING,
        "What else `serverInfo` says. An icon has `src` and may have `mime_type`, `sizes` and `theme` "
        "(`light` or `dark`).",
    ),
    Setting(
        "INSTRUCTIONS",
        Optional(STRING),
        None,
        "How to use the server; clients show it to their model on discovery.",
    ),
    Setting(
        "AUTH",
        Optional(
            DottedPath("a function, or a class or instance with an authenticate method", _authenticates)
        ),
        None,
        "Who may call: dotted path of a function, or of a class or instance with an `authenticate` method. "
        "None: everybody.",
    ),
    Setting(
        "WWW_AUTHENTICATE",
        Keyed(TOKEN, PARAMETER, "a mapping of auth-param names to strings or callables"),
        _NOTHING,
        "Parameters of the `Bearer` challenge that comes with a 401.",
    ),
    Setting(
        "PROTECTED_RESOURCE",
        Optional(_PROTECTED_RESOURCE),
        None,
        "OAuth 2.0 protected resource metadata (RFC 9728) to publish; `resource` is the server's public URL.",
    ),
    Setting(
        "ALLOWED_ORIGINS",
        Items(ORIGIN, "a list, tuple or set of origins"),
        (),
        "Browser origins that may call, compared exactly; `*` for any. Empty: an origin whose host satisfies "
        "`ALLOWED_HOSTS`.",
    ),
    Setting(
        "LEGACY_VERSIONS",
        Items(one_of(*LEGACY_VERSIONS), "a list or tuple of protocol revisions"),
        LEGACY_VERSIONS,
        "Protocol revisions before 2026-07-28 that are served too. Empty: none.",
    ),
    Setting(
        "LENIENT_VERSION_HEADER",
        BOOLEAN,
        True,
        "Whether an `MCP-Protocol-Version` header that names a served legacy revision decides, even when the "
        "body says 2026-07-28.",
    ),
    Setting(
        "WIRE_CHECKS",
        Optional(Items(DottedPath("a WireCheck class"), "a list or tuple of dotted paths")),
        None,
        "The checks a POST passes, in order: dotted paths of `WireCheck` classes. None: this package's.",
    ),
    Setting(
        "CONFIRM_DESTRUCTIVE",
        BOOLEAN,
        False,
        "Whether the user is asked before every tool or action that is marked `destructive`.",
    ),
    Setting("TAGS", Optional(STRINGS), None, "Serve only tools with one of these tags. None: all."),
    Setting(
        "INCLUDE",
        Optional(STRINGS),
        None,
        "Serve only tools whose name matches one of these patterns. None: all.",
    ),
    Setting("EXCLUDE", Optional(STRINGS), None, "Leave out tools whose name matches one of these patterns."),
    Setting(
        "AXES",
        AXES,
        _NOTHING,
        "Whose data a call is about: name to the dotted paths of an `axis` and of the `binder` that finds "
        "its value.",
    ),
    Setting(
        "CACHE_TTL_MS",
        integer(0),
        300_000,
        "Milliseconds clients may keep discovery and tool lists (`ttlMs`).",
    ),
    Setting(
        "CACHE_SCOPE",
        one_of("private", "public"),
        "private",
        "Who may share a kept list (`cacheScope`); `public` only where everybody sees the same tools.",
    ),
    Setting("MAX_BODY_BYTES", integer(1), 4 * 1024 * 1024, "Size of the largest body read, in bytes."),
    Setting("MAX_JSON_VALUES", integer(1), 100_000, "Number of JSON values in the largest body served."),
    Setting(
        "STATE_MAX_AGE_S",
        integer(1),
        600,
        "Seconds a user has to answer: the age up to which `requestState` is accepted.",
    ),
    Setting(
        "CALL_TIMEOUT",
        Optional(SECONDS),
        None,
        "Seconds a call of an async handler may take, unless its `timeout` says otherwise. None: any.",
    ),
    Setting(
        "STREAM_KEEPALIVE_S",
        SECONDS,
        15,
        "Seconds after which a stream without news sends a comment, which keeps proxies from closing it.",
    ),
    Setting(
        "INLINE_REFS",
        BOOLEAN,
        False,
        "Whether published schemas have their local `$ref`s replaced by what they name.",
    ),
)

_GLOBAL = (
    Setting(
        "CLASSIFIER",
        Optional(DottedPath("a callable")),
        None,
        "Dotted path of a callable that tells of an exception whether it is `transient` or `permanent`.",
        per_server=False,
    ),
    Setting(
        "POLICIES",
        POLICIES,
        _NOTHING,
        "What calls go through, over what the code says: pattern of `tool` or `tool.action` to the parts of "
        "a policy.",
        per_server=False,
    ),
    Setting(
        "FORMATS",
        Keyed(STRING, Optional(CALLABLE), "a mapping of format names to a callable or None"),
        _NOTHING,
        "More formats for schemas: name to a callable that returns whether a string is right (a ValueError "
        "is a no), or to None for an annotation.",
        per_server=False,
    ),
    Setting(
        "TASKS",
        Table(
            {
                "STORE": DottedPath("a task store"),
                "RUNNER": DottedPath("a task runner"),
                "RETENTION_S": Optional(integer(1)),
                "BACKEND": STRING,
                "POLL_INTERVAL_MS": integer(1),
            }
        ),
        _TASKS,
        "Background work: `STORE` keeps the tasks and `RUNNER` runs them (dotted paths of classes), "
        "`BACKEND` is the alias in the site's `TASKS` that `TasksRunner` uses, `RETENTION_S` how many "
        "seconds a result is kept (None: for good), `POLL_INTERVAL_MS` how often clients are told to ask.",
        per_server=False,
    ),
    Setting(
        "CACHE",
        STRING,
        "default",
        "Alias in `CACHES` of the cache that remembers answers which hold only once, and all that policies "
        "keep.",
        per_server=False,
    ),
    Setting(
        "EXPOSE_FAULTS",
        BOOLEAN,
        False,
        "Whether callers see the text of an unexpected exception; with `DEBUG` they always do.",
        per_server=False,
    ),
    Setting(
        "LOG_SIGNALS",
        BOOLEAN,
        True,
        "Whether events are logged to the logger `django_mcp`.",
        per_server=False,
    ),
)

_SERVERS = Setting(
    "SERVERS",
    Keyed(
        STRING,
        Table(
            {setting.name: setting.kind for setting in _PER_SERVER},
            elsewhere=dict.fromkeys(
                ("SERVERS", *(setting.name for setting in _GLOBAL)), "the top level of DJANGO_MCP"
            ),
        ),
        "a mapping of server names to their settings",
    ),
    _NOTHING,
    "More servers: name to the settings of that server that differ from those at the top level.",
    per_server=False,
)

#: Every setting, in the order of the documentation.
SETTINGS: Final = (*_PER_SERVER, *_GLOBAL, _SERVERS)

#: The whole of `DJANGO_MCP` as one kind.
WHOLE: Final = Table({setting.name: setting.kind for setting in SETTINGS})
