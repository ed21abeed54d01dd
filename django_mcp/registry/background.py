"""What background work means for what a server publishes, and what it needs of the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.apps import apps
from django.utils.module_loading import import_string

from django_mcp import conf
from django_mcp.registry.registration import ActionEntry, Registration
from django_mcp.schema import union
from django_mcp.schema.offence import Offence

#: The extension a client declares to be answered with tasks of the protocol (MCP tasks extension).
EXTENSION: Final = "io.modelcontextprotocol/tasks"
#: The tool whose answers are those of all background work.
TASK_RESULT: Final = "task_result"

_RECEIPT: Final = "a task_id at once; poll task_status with it, then fetch task_result."


def takes_tasks(capabilities: Mapping[str, Any]) -> bool:
    """Whether a client takes tasks of the protocol, instead of the shared tools."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, Mapping) and EXTENSION in extensions


def description(registration: Registration, actions: Mapping[str, ActionEntry]) -> Any:
    """The tool's description for a client that has to poll."""
    begins = [name for name, entry in actions.items() if entry.options.get("background")]
    if not begins and not registration.options.get("background"):
        return registration.description
    if len(begins) < len(actions):
        which = ", ".join(begins)
        sentence = f"Starts a background task for {which}, answering with {_RECEIPT}"
    else:
        sentence = f"Starts a background task and answers with {_RECEIPT}"
    return f"{registration.description} {sentence}"


def output_schema(
    registration: Registration, actions: Mapping[str, ActionEntry], published: dict[str, Any] | None
) -> dict[str, Any] | None:
    """What the tool's answers satisfy for a client that has to poll."""
    begins = [entry for entry in actions.values() if entry.options.get("background")]
    if registration.options.get("background") or (begins and len(begins) == len(actions)):
        return union.RECEIPT
    return union.or_receipt(published) if begins and published is not None else published


def result_schema(registration: Registration, published: dict[str, Any] | None) -> dict[str, Any]:
    """What the work of a tool returns, before anything is wrapped around it."""
    if published is None:
        return {}
    if registration.output is None or not registration.output.wrapped:
        return published
    result: dict[str, Any] = published["properties"]["result"]
    return {**result, "$defs": published["$defs"]} if "$defs" in published else result


def is_background(registration: Registration, actions: Iterable[ActionEntry]) -> bool:
    """Whether a call of the tool, or of one of these actions of it, is background work."""
    return bool(registration.options.get("background")) or any(
        entry.options.get("background") for entry in actions
    )


def needs(registrations: Iterable[Registration], tasks: Mapping[str, Any]) -> Iterable[Offence]:
    """What keeps the store and the runner of the settings from serving these tools."""
    names = sorted(
        registration.name
        for registration in registrations
        if is_background(registration, registration.actions.values())
    )
    if not names:
        return
    found = {}
    for setting, rule in (("STORE", "tasks-store"), ("RUNNER", "tasks-runner")):
        try:
            found[setting] = import_string(tasks[setting])
        except ImportError:
            return  # told with the other settings
        for text, fix in getattr(found[setting], "problems", tuple)():
            yield Offence(
                rule=rule,
                message=f"{', '.join(names)} cannot run in the background: {text}.",
                fix=fix,
                callback="TASKS",
            )
    if found["STORE"].in_process and not found["RUNNER"].in_process:
        yield Offence(
            rule="tasks-unshared",
            message=f"{', '.join(names)} cannot run in the background: the workers of "
            f"{tasks['RUNNER']} cannot see what {tasks['STORE']} keeps in another process.",
            fix="Set STORE to a store that is shared, such as django_mcp.background.store.OrmStore.",
            callback="TASKS",
        )


def deploy_needs(registrations: Iterable[Registration], tasks: Mapping[str, Any]) -> Iterable[Offence]:
    """What is right for development and loses work in production."""
    for setting in ("STORE", "RUNNER"):
        try:
            in_process = import_string(tasks[setting]).in_process
        except ImportError:
            continue
        names = sorted(r.name for r in registrations if is_background(r, r.actions.values()))
        if in_process and names:
            yield Offence(
                rule="deploy-tasks-in-process",
                message=f"{setting} in TASKS is {tasks[setting]}, so the work of {', '.join(names)} ends "
                "with the process that took the call.",
                fix="Use OrmStore and TasksRunner with a worker, or silence this check.",
                callback="TASKS",
                warning=True,
            )


def consent_offences(
    registrations: Iterable[Registration], server: conf.ServerSettings, cache: str
) -> Iterable[Offence]:
    """A consent holds once, which somebody has to remember."""
    names = destructive(registrations)
    if not server.confirm_destructive or not names:
        return
    if not apps.is_installed("django_mcp.background") and not conf.is_shared_cache(cache):
        yield Offence(
            rule="confirm-memory",
            message=f"Server {server.key}: CONFIRM_DESTRUCTIVE asks before {', '.join(names)}, yet nothing "
            "that all processes share remembers which consent was used.",
            fix='Add "django_mcp.background" to INSTALLED_APPS and run migrate, or set CACHE to a shared '
            "cache.",
            callback="CONFIRM_DESTRUCTIVE",
        )


def unconfirmed(registrations: Iterable[Registration], server: conf.ServerSettings) -> Iterable[Offence]:
    """Destruction that nobody is asked about."""
    names = destructive(registrations)
    if names and not server.confirm_destructive:
        yield Offence(
            rule="deploy-unconfirmed",
            message=f"Server {server.key}: CONFIRM_DESTRUCTIVE is off, so {', '.join(names)} can destroy "
            "without anybody being asked.",
            fix="Set CONFIRM_DESTRUCTIVE, or silence this check where clients are trusted to ask.",
            callback="CONFIRM_DESTRUCTIVE",
            warning=True,
        )


def destructive(registrations: Iterable[Registration]) -> list[str]:
    """The tools that are marked destructive, or have an action that is."""
    return sorted(
        registration.name
        for registration in registrations
        if registration.options.get("destructive")
        or any(entry.options.get("destructive") for entry in registration.actions.values())
    )
