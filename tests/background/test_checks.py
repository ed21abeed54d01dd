"""What background work and consent need of a site."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from django_mcp import BaseTool, testing
from django_mcp.background.framework import NAME
from django_mcp.checks import check_mcp, check_mcp_deploy
from tests.background.conftest import IN_PROCESS, MEMORY

STORE, RUNNER = "django_mcp.background.store.OrmStore", "django_mcp.background.runner.TasksRunner"


class Report(BaseTool):
    """Writes a report."""

    name = "report"
    options = {"background": True}
    input_schema = {"type": "object", "properties": {}}

    def run(self, arguments, ctx):
        return {}


class Wipe(BaseTool):
    """Erases."""

    name = "wipe"
    options = {"destructive": True}
    input_schema = {"type": "object", "properties": {}}

    def run(self, arguments, ctx):
        return {}


@pytest.fixture
def found(settings):
    """Ids and messages of the checks with these settings and tools."""

    def found(*tools, check=check_mcp, **django_mcp):
        settings.DJANGO_MCP = django_mcp
        with testing.served(*tools):
            return [
                (message.id.removeprefix("django_mcp."), message.msg, message.hint) for message in check(None)
            ]

    return found


def without(settings, app):
    settings.INSTALLED_APPS = [name for name in settings.INSTALLED_APPS if name != app]


def test_a_site_without_background_work_needs_nothing(found, settings):
    without(settings, "django_mcp.background")

    assert found(Wipe) == []


def test_the_default_store_needs_its_app(found, settings):
    without(settings, "django_mcp.background")

    assert found(Report, TASKS={"RUNNER": IN_PROCESS}) == [
        (
            "E130",
            "report cannot run in the background: tasks are kept in the database, whose app is not installed.",
            'Add "django_mcp.background" to INSTALLED_APPS and run migrate.',
        )
    ]


def test_the_default_runner_needs_a_backend_with_workers(found, settings):
    runs_at_once = (
        "E131",
        "report cannot run in the background: the tasks backend 'default' is ImmediateBackend, which runs nothing in "
        "the background.",
        'Set the site\'s TASKS to a backend with workers, such as "django_tasks_db.DatabaseBackend".',
    )
    settings.TASKS = {"default": {"BACKEND": f"{NAME}.backends.immediate.ImmediateBackend"}}
    assert found(Report) == [runs_at_once]
    settings.DEBUG = True
    assert found(Report) == []


def test_the_database_backend_needs_its_app(found, settings):
    without(settings, "django_tasks_db")
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

    assert found(Report) == [
        (
            "E131",
            "report cannot run in the background: the tasks backend 'default' keeps its queue in the database, whose "
            "app is not installed.",
            'Add "django_tasks_db" to INSTALLED_APPS and run migrate.',
        )
    ]


def test_a_backend_that_is_not_there_is_told(found):
    [(rule, message, hint)] = found(Report, TASKS={"BACKEND": "nowhere"})

    assert rule == "E131"
    assert message.startswith(
        "report cannot run in the background: the tasks backend 'nowhere' cannot be used ("
    )
    assert hint == "Set BACKEND in DJANGO_MCP's TASKS to an alias of the site's TASKS."


def test_the_framework_has_to_be_installed(found, monkeypatch):
    monkeypatch.setattr("django_mcp.background.framework.NAME", "no_such_package")
    [(rule, message, hint)] = found(Report)

    assert (rule, message) == (
        "E131",
        "report cannot run in the background: the runner needs no_such_package, which is not installed.",
    )
    assert "django-mcp-actions[tasks" in hint


def test_workers_of_other_processes_cannot_see_what_memory_keeps(found):
    assert found(Report, TASKS={"STORE": MEMORY}) == [
        (
            "E132",
            f"report cannot run in the background: the workers of {RUNNER} cannot see what {MEMORY} keeps in another "
            "process.",
            f"Set STORE to a store that is shared, such as {STORE}.",
        )
    ]
    assert found(Report, TASKS={"STORE": MEMORY, "RUNNER": IN_PROCESS}) == []


def test_a_path_that_leads_nowhere_is_told_once(found):
    [(rule, _, _)] = found(Report, TASKS={"STORE": "no.such.Store"})

    assert rule == "E074"


def test_what_is_served_nowhere_needs_nothing(found, settings):
    del settings.TASKS
    assert found(Report, Wipe, EXCLUDE=["report"]) == []


def test_a_consent_needs_a_memory_that_all_processes_share(found, settings):
    assert found(Wipe, CONFIRM_DESTRUCTIVE=True) == []
    without(settings, "django_mcp.background")
    forgets = (
        "E133",
        "Server default: CONFIRM_DESTRUCTIVE asks before wipe, yet nothing that all processes share remembers which "
        "consent was used.",
        'Add "django_mcp.background" to INSTALLED_APPS and run migrate, or set CACHE to a shared cache.',
    )
    assert found(Wipe, CONFIRM_DESTRUCTIVE=True) == [forgets]
    assert found(Report, CONFIRM_DESTRUCTIVE=True, TASKS={"STORE": MEMORY, "RUNNER": IN_PROCESS}) == []
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "c"}}
    assert found(Wipe, CONFIRM_DESTRUCTIVE=True) == []


def test_a_deployment_is_warned_of_what_it_loses_and_of_what_nobody_is_asked_about(found):
    deploy = {"check": check_mcp_deploy, "AUTH": "django_mcp.auth.session.SessionAuth"}
    hint = "Use OrmStore and TasksRunner with a worker, or silence this check."
    ends = "so the work of report ends with the process that took the call."
    assert found(Report, Wipe, **deploy, TASKS={"STORE": MEMORY, "RUNNER": IN_PROCESS}) == [
        (
            "W040",
            "Server default: CONFIRM_DESTRUCTIVE is off, so wipe can destroy without anybody being asked.",
            "Set CONFIRM_DESTRUCTIVE, or silence this check where clients are trusted to ask.",
        ),
        ("W041", f"STORE in TASKS is {MEMORY}, {ends}", hint),
        ("W041", f"RUNNER in TASKS is {IN_PROCESS}, {ends}", hint),
    ]
    assert found(Report, Wipe, **deploy, CONFIRM_DESTRUCTIVE=True) == []
    assert found(Report, **deploy, TASKS={"STORE": "no.such.Store"}) == []


@pytest.mark.parametrize("name", ["task_status", "task_result", "task_cancel"])
def test_the_names_of_the_shared_tools_are_reserved_without_any_background_work(found, name):
    class Claims(Wipe):
        pass

    Claims.name = name
    [(rule, message, _)] = found(Claims)
    assert rule == "E004"
    assert name in message


@pytest.mark.django_db
def test_the_app_has_its_migrations():
    call_command(
        "makemigrations", "django_mcp_background", "--check", "--dry-run", "--skip-checks", verbosity=0
    )
