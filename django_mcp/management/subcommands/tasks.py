"""`manage.py mcp tasks list|cancel|prune|sweep`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from django_mcp.background.models import BackgroundTask, SpentState, Status
from django_mcp.background.store import as_record
from django_mcp.dispatch import tasks
from django_mcp.management.subcommands import Subcommand, common

_COLUMNS = ("id", "server", "tool", "action", "owner", "status", "message", "created", "updated")


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="task_action", required=True, metavar="action")
    listing = actions.add_parser("list", help="List the tasks, newest first.")
    listing.add_argument("--status", choices=Status.values, help="Only those of this status.")
    common.add_json(listing)
    cancel = actions.add_parser("cancel", help="Ask the work of a task to stop.")
    cancel.add_argument("id", help="Its id, as list shows it.")
    actions.add_parser("prune", help="Forget tasks and consents whose time is over.")
    sweep = actions.add_parser(
        "sweep", help="Fail the tasks whose worker is gone; hand over again those that no worker has begun."
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
    found = BackgroundTask.objects.kept(timezone.now())
    if options["status"] is not None:
        found = found.filter(status=options["status"])
    rows = [_row(task) for task in found]
    if options["json"]:
        command.stdout.write(json.dumps(rows))
        return
    common.table(command, list(_COLUMNS), [[row[column] or "-" for column in _COLUMNS] for row in rows])


def _row(task: BackgroundTask) -> dict[str, str]:
    times = [moment.isoformat(timespec="seconds") for moment in (task.created_at, task.last_updated_at)]
    told = (task.server, task.tool, task.action, task.owner, task.status, task.status_message)
    return dict(zip(_COLUMNS, (task.task_id, *told, *times), strict=True))


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
    now = timezone.now()
    count, _ = BackgroundTask.objects.expired(now).delete()
    SpentState.objects.filter(expires_at__lt=now).delete()
    command.stdout.write(f"{count} tasks are forgotten.")


def _sweep(command: BaseCommand, options: dict[str, Any]) -> None:
    seconds = options["stale_s"]
    lost = sum(tasks.lost(as_record(task)) for task in BackgroundTask.objects.stale(seconds))
    command.stdout.write(f"{lost} tasks had lost their worker and have failed.")
    runner = tasks.runner()
    if runner.in_process:
        return  # what this process begins ends with it
    waiting = [task.task_id for task in BackgroundTask.objects.unstarted(seconds)]
    for task_id in waiting:
        # Whoever was to send the message may have died. A second one does no harm: work begins once.
        runner.start(task_id)
    command.stdout.write(f"{len(waiting)} tasks that no worker has begun are handed over again.")


_ACTIONS = {"list": _list, "cancel": _cancel, "prune": _prune, "sweep": _sweep}

SUBCOMMAND = Subcommand("tasks", "List, cancel and tidy up background tasks.", add_arguments, run)
