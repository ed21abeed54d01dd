from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django_mcp import conf
from django_mcp.auth.permissions import allowed
from django_mcp.authoring import declare
from django_mcp.authoring.errors import ConfigurationError
from django_mcp.registry import background, binders, filters
from django_mcp.registry.background import TASK_RESULT, takes_tasks
from django_mcp.registry.build import build
from django_mcp.registry.built import Built
from django_mcp.registry.policies import dead_patterns, policed
from django_mcp.registry.registration import ActionEntry, Registration
from django_mcp.registry.strays import strays
from django_mcp.schema import portable, publish, union
from django_mcp.schema.formats import Formats
from django_mcp.schema.inline import inlined
from django_mcp.schema.offence import Offence

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

logger = logging.getLogger("django_mcp")


class Published:
    """The schemas of a tool as one server publishes them; what is enforced stays the same."""

    __slots__ = ("input_schema", "output_schema")

    def __init__(self, registration: Registration, *, inline_refs: bool) -> None:
        self.input_schema = registration.input_schema
        self.output_schema = registration.output_schema
        if inline_refs:
            self.input_schema = self.input_schema and inlined(self.input_schema)
            self.output_schema = self.output_schema and inlined(self.output_schema)


class View:
    """What one caller sees of a catalog. What it may not see does not exist for it, in any answer.

    A view without a caller sees everything. `polls` says whether the client has to ask for the outcome of
    background work by tools; one that takes tasks of the protocol does not see those.
    """

    __slots__ = ("_ctx", "_granted", "catalog", "polls")

    def __init__(self, catalog: Catalog, ctx: Context | None, *, polls: bool = True) -> None:
        self.catalog = catalog
        self._ctx = ctx
        self._granted: dict[int, bool] = {}
        self.polls = polls

    def get(self, name: str) -> Registration | None:
        registration = self.catalog.by_name.get(name)
        if registration is None or (self.polls and not registration.guarded):
            return registration
        return registration if self._sees(registration) else None

    @property
    def registrations(self) -> list[Registration]:
        """The visible tools in listing order."""
        return [registration for registration in self.catalog.registrations if self._sees(registration)]

    def actions(self, registration: Registration) -> Mapping[str, ActionEntry]:
        """The visible actions of a tool, sorted by name."""
        if not registration.guarded:
            return registration.actions
        return {name: entry for name, entry in registration.actions.items() if self._may(entry.permission)}

    @property
    def key(self) -> tuple[bool, ...]:
        """Stands for the visible set: callers with equal keys see the same."""
        return (self.polls, *(self._may(permission) for permission in self.catalog.permissions))

    def definition(self, registration: Registration) -> dict[str, Any]:
        """The tool as tools/list publishes it to this caller (MCP `Tool`)."""
        definition: dict[str, Any] = {"name": registration.name}
        if registration.title is not None:
            definition["title"] = registration.title
        definition["description"] = self.description(registration)
        published = self.catalog.published[registration.name]
        definition["inputSchema"] = published.input_schema or publish.input_schema(
            {name: entry.rendered for name, entry in self.actions(registration).items()}
        )
        output_schema = self.output_schema(registration)
        if output_schema is not None:
            definition["outputSchema"] = output_schema
        if registration.annotations is not None:
            definition["annotations"] = registration.annotations
        if registration.icons:
            definition["icons"] = list(registration.icons)
        return definition

    def description(self, registration: Registration) -> Any:
        """The tool's description, as this caller needs it."""
        if not self.polls or not self.catalog.has_background:
            return registration.description
        return background.description(registration, self.actions(registration))

    def output_schema(self, registration: Registration) -> dict[str, Any] | None:
        published = self.catalog.published
        schema = published[registration.name].output_schema
        if not self.polls or not self.catalog.has_background:
            return schema
        if registration.name == TASK_RESULT:
            seen = [
                one for one in self.registrations if background.is_background(one, self.actions(one).values())
            ]
            return union.results(
                {one.name: background.result_schema(one, published[one.name].output_schema) for one in seen}
            )
        return background.output_schema(registration, self.actions(registration), schema)

    def _sees(self, registration: Registration) -> bool:
        if not self.polls and _shared_by_tasks(registration):
            return False
        if not registration.guarded:
            return True
        if not self._may(registration.permission):
            return False
        entries = registration.actions.values()
        return not entries or any(self._may(entry.permission) for entry in entries)

    def _may(self, permission: Any) -> bool:
        if permission is None or self._ctx is None:
            return True
        granted = self._granted.get(id(permission))
        if granted is None:
            granted = self._granted[id(permission)] = allowed(permission, self._ctx)
        return granted


class Catalog:
    """The tools of one server, in listing order."""

    def __init__(
        self,
        server: str,
        registrations: Iterable[Registration],
        builtins: Iterable[Registration],
        settings: conf.ServerSettings,
    ) -> None:
        self.server = server
        self.settings = settings
        self.registrations = (*registrations, *builtins)
        inline_refs = settings.inline_refs
        #: What finds the values of the axes, by tool; the framework's own tools ask for none.
        self.binders = dict.fromkeys((tool.name for tool in registrations), binders.of(settings.axes))
        self.published = {
            registration.name: Published(registration, inline_refs=inline_refs)
            for registration in self.registrations
        }
        self.by_name = {registration.name: registration for registration in self.registrations}
        self.permissions = tuple(
            permission
            for registration in self.registrations
            for permission in (
                registration.permission,
                *(entry.permission for entry in registration.actions.values()),
            )
            if permission is not None
        )
        #: Encoded tools/list results, by everything they depend on.
        self.encoded: dict[Hashable, bytes] = {}
        #: Whether any tool mirrors arguments in headers.
        self.mirrors = any(registration.header_rows for registration in self.registrations)
        #: Whether any tool has background work.
        self.has_background = any(map(_shared_by_tasks, self.registrations))
        self.whole = View(self, None)
        self._whole_with_tasks = View(self, None, polls=False)

    @property
    def guarded(self) -> bool:
        """Whether any permission decides what a caller sees."""
        return bool(self.permissions)

    def view(self, ctx: Context) -> View:
        polls = not (self.has_background and takes_tasks(ctx.capabilities))
        if self.permissions:
            return View(self, ctx, polls=polls)
        return self.whole if polls else self._whole_with_tasks


def _shared_by_tasks(registration: Registration) -> bool:
    return bool(getattr(registration.tool, "shared_by_tasks", False))


@dataclass(frozen=True, slots=True)
class Finding:
    """An offence and who commits it: a tool class, or None for the settings."""

    declared: Any
    label: str
    offence: Offence

    @property
    def message(self) -> str:
        return self.offence.message if self.declared is None else f"{self.label}: {self.offence.message}"


class _State:
    """Everything built from one set of declarations under one reading of the settings."""

    def __init__(self, settings: conf.Settings, declared: tuple[Any, ...]) -> None:
        self.settings = settings
        self.declared = declared
        formats = Formats.of(settings.formats)
        self.builtins = [built for tool in declare.builtins() for built in build(tool, formats)]
        self.built = [policed(built, settings) for tool in declared for built in build(tool, formats)]
        self.catalogs: dict[str, Catalog | ConfigurationError] = {}

    def holds(self, settings: conf.Settings, declared: tuple[Any, ...]) -> bool:
        """Whether this was built from these; both are replaced when they change, so identity tells."""
        return self.settings is settings and self.declared is declared

    def findings(self) -> list[Finding]:
        found = [
            Finding(built.declared, built.label, offence)
            for built in (*self.builtins, *self.built)
            for offence in built.offences
        ]
        found += _name_findings(self.builtins, self.built)
        found += [
            Finding(cls, cls.__name__, offence)
            for cls, offence in strays((*self.declared, *declare.registered()))
        ]
        found += [Finding(None, "DJANGO_MCP", offence) for offence in conf.offences()]
        found += self._portable_findings()
        for key, server in self.settings.servers.items():
            found += [Finding(None, "DJANGO_MCP", one) for one in binders.offences(key, server.axes)]
        registrations = self._registrations()
        found += self._scope_findings(registrations)
        found += self._background_findings()
        if len(registrations) < len(self.built):
            return found  # what a filter names may be a tool that is refused for now
        found += [Finding(None, "DJANGO_MCP", one) for one in dead_patterns(registrations, self.settings)]
        for key in self.settings.servers:
            for offence in filters.offences(registrations, self.settings.server(key)):
                found.append(Finding(None, "DJANGO_MCP", offence))
        return found

    def _scope_findings(self, registrations: list[Registration]) -> Iterable[Finding]:
        """A list that depends on the caller must not be shared."""
        for key, server in self.settings.servers.items():
            guarded = [entry.name for entry in filters.select(registrations, server) if entry.guarded]
            if guarded and server.cache_scope == "public":
                offence = Offence(
                    rule="setting-cache-scope-public",
                    message=f"Server {key}: CACHE_SCOPE is 'public' while permissions decide who sees "
                    f"{', '.join(guarded)}.",
                    fix="Leave CACHE_SCOPE at 'private', or serve public tools from a server of their own.",
                    callback="CACHE_SCOPE",
                )
                yield Finding(None, "DJANGO_MCP", offence)

    def _background_findings(self) -> Iterable[Finding]:
        """What background work and consent need, and the site does not have."""
        registrations, settings = self._registrations(), self.settings
        served: dict[str, Registration] = {}
        for server in settings.servers.values():
            selected = filters.select(registrations, server)
            served |= {registration.name: registration for registration in selected}
            for offence in background.consent_offences(selected, server, settings.cache):
                yield Finding(None, "DJANGO_MCP", offence)
        for offence in background.needs(served.values(), settings.tasks):
            yield Finding(None, "DJANGO_MCP", offence)

    def deploy_findings(self) -> Iterable[Finding]:
        """What is right for development and questionable in production."""
        registrations, settings = self._registrations(), self.settings
        for server in settings.servers.values():
            for offence in background.unconfirmed(filters.select(registrations, server), server):
                yield Finding(None, "DJANGO_MCP", offence)
        for offence in background.deploy_needs(registrations, settings.tasks):
            yield Finding(None, "DJANGO_MCP", offence)

    def _portable_findings(self) -> Iterable[Finding]:
        """Warnings on what is published; a reference that every server inlines is none."""
        inline = all(server.inline_refs for server in self.settings.servers.values())
        for built in self.built:
            registration = built.registration
            if registration is not None:
                published = Published(registration, inline_refs=inline)
                for offence in portable.offences(
                    registration.name,
                    str(registration.description),
                    published.input_schema,
                    published.output_schema,
                ):
                    yield Finding(built.declared, built.label, offence)

    def catalog(self, server: str) -> Catalog | ConfigurationError:
        for finding in self.findings():
            if not finding.offence.warning:
                logger.critical("Server %r is misconfigured and serves nothing. %s", server, finding.message)
                return ConfigurationError(finding.label, finding.offence.callback, finding.message)
        selected = filters.select(self._registrations(), self.settings.server(server))
        works = any(background.is_background(one, one.actions.values()) for one in selected)
        own = [built.registration for built in self.builtins if built.registration is not None]
        builtins = [one for one in own if works or not _shared_by_tasks(one)]
        return Catalog(server, selected, builtins, self.settings.server(server))

    def _registrations(self) -> list[Registration]:
        return [built.registration for built in self.built if built.registration is not None]


def _name_findings(builtins: list[Built], built: list[Built]) -> Iterable[Finding]:
    reserved = {entry.label for entry in builtins}
    tools = [entry for entry in built if entry.origin is not None]
    counts = Counter(entry.label for entry in tools)
    for entry in tools:
        if entry.label in reserved:
            offence = Offence(
                rule="tool-name-reserved",
                message=f"The tool name {entry.label!r} is reserved: every server has that tool already.",
                fix="Choose another name.",
                callback="name",
            )
        elif counts[entry.label] > 1:
            origins = [str(one.origin) for one in tools if one.label == entry.label]
            offence = Offence(
                rule="tool-name-duplicate",
                message=f"The tool name {entry.label!r} is declared by {' and '.join(origins)}.",
                fix="Give each tool a name of its own.",
                callback="name",
            )
        else:
            continue
        yield Finding(entry.declared, entry.label, offence)


#: Reentrant, because judging the settings imports modules of the site, which may ask for a server.
_lock = threading.RLock()
_state: _State | None = None


def _renewed(settings: conf.Settings, declared: tuple[Any, ...]) -> _State:
    global _state
    with _lock:
        state = _state
        if state is None or not state.holds(settings, declared):
            state = _state = _State(settings, declared)
    return state


def is_built(server: str) -> bool:
    """Whether `catalog` has its answer ready, so that asking runs no code of the site."""
    state = _state
    if state is None or not state.holds(conf.get(), declare.declarations()):
        return False
    return server in state.catalogs


def catalog(server: str) -> Catalog:
    """The catalog of a server, built on first use. Raises ConfigurationError while anything is refused."""
    settings, declared = conf.get(), declare.declarations()
    state = _state
    # Both are replaced when they change, never changed in place.
    if state is None or state.settings is not settings or state.declared is not declared:
        state = _renewed(settings, declared)
    found = state.catalogs.get(server)
    if found is None:
        with _lock:
            found = state.catalogs.get(server)
            if found is None:
                found = state.catalogs[server] = state.catalog(server)
    if isinstance(found, ConfigurationError):
        raise ConfigurationError(found.tool, found.callback, found.message)
    return found


def findings() -> list[Finding]:
    """Every offence of every declaration and setting, all at once."""
    return _State(conf.get(), declare.declarations()).findings()


def deploy_findings() -> list[Finding]:
    """What `manage.py check --deploy` adds about tools."""
    return list(_State(conf.get(), declare.declarations()).deploy_findings())
