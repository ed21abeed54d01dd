"""`manage.py mcp tasks list|cancel|prune|sweep`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, get_args

from asgiref.sync import async_to_sync
from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from django_mcp import conf
from django_mcp.dispatch import tasks
from django_mcp.dispatch.tasks import Record, Status
from django_mcp.management.subcommands import Subcommand, common

_COLUMNS = ("id", "server", "tool", "action", "owner", "status", "message", "created", "updated")


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="task_action", required=True, metavar="action")
    listing = actions.add_parser("list", help="List the tasks, newest first.")
    listing.add_argument("--status", choices=get_args(Status), help="Only those of this status.")
    common.add_json(listing)
    cancel = actions.add_parser("cancel", help="Ask the work of a task to stop.")
    cancel.add_argument("id", help="Its id, as list shows it.")
    actions.add_parser("prune", help="Forget tasks and consents whose time is over.")
    sweep = actions.add_parser(
        "sweep", help="Fail the tasks whose worker is gone; hand over again those that are in no queue."
    )
    sweep.add_argument(
        "--stale-s",
        type=int,
        default=tasks.STALE_S,
        help="Seconds without a sign of life, or without a worker (default: %(default)s; workers give a sign "
        f"every {tasks.HEARTBEAT_S}).",
    )


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    _ACTIONS[options["task_action"]](command, options)


def _list(command: BaseCommand, options: dict[str, Any]) -> None:
    rows = [_row(record) for record in _asked("records")(options["status"])]
    if options["json"]:
        command.stdout.write(json.dumps(rows))
        return
    common.table(command, list(_COLUMNS), [[row[column] or "-" for column in _COLUMNS] for row in rows])


def _row(record: Record) -> dict[str, str]:
    times = [moment.isoformat(timespec="seconds") for moment in (record.created_at, record.last_updated_at)]
    told = (record.server, record.tool, record.action or "", record.owner, record.status)
    return dict(zip(_COLUMNS, (record.task_id, *told, record.status_message or "", *times), strict=True))


def _asked(name: str) -> Callable[..., Any]:
    """What the store can do beyond what a server needs. Raises CommandError where it cannot."""
    method = getattr(tasks.store(), name, None)
    if method is None:
        raise CommandError(f"{conf.get().tasks['STORE']} cannot do this: it has no method {name}.")
    return async_to_sync(method)


def _cancel(command: BaseCommand, options: dict[str, Any]) -> None:
    record = tasks.load(options["id"])
    if record is None:
        raise CommandError(f"There is no task {options['id']}.")
    if record.settled:
        raise CommandError(f"Task {record.task_id} is over: {record.status}.")
    after = tasks.cancel(record)
    told = f"is {after.status}" if after.settled else "is asked to stop"
    command.stdout.write(f"Task {record.task_id} {told}.")


def _prune(command: BaseCommand, options: dict[str, Any]) -> None:
    if apps.is_installed("django_mcp.background"):
        spent: Any = apps.get_model("django_mcp_background", "SpentState")
        spent.objects.filter(expires_at__lt=timezone.now()).delete()
    command.stdout.write(f"{_asked('prune')()} tasks are forgotten.")


def _sweep(command: BaseCommand, options: dict[str, Any]) -> None:
    seconds, now = options["stale_s"], timezone.now()
    working = _asked("records")("working")
    lost = sum(tasks.lost(record) for record in working if record.is_stale(now, seconds))
    command.stdout.write(f"{lost} tasks had lost their worker and have failed.")
    if tasks.runner().in_process:
        return  # what this process begins ends with it
    waiting = [record for record in working if record.is_waiting(now, seconds)]
    forgotten = [record for record in waiting if not tasks.is_handed_over(record, now)]
    for record in forgotten:
        # Whoever was to send the message may have died. A second one does no harm: work begins once.
        tasks.hand_over(record)
    command.stdout.write(f"{len(forgotten)} tasks that were in no queue are handed over again.")


_ACTIONS = {"list": _list, "cancel": _cancel, "prune": _prune, "sweep": _sweep}

SUBCOMMAND = Subcommand("tasks", "List, cancel and tidy up background tasks.", add_arguments, run)
