"""Running the work of one task: at most once, with signs of life, to an end that everybody sees."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final, TypeVar

from asgiref.sync import async_to_sync
from django.db import InterfaceError, OperationalError, close_old_connections
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from django_mcp import conf
from django_mcp.auth import identity
from django_mcp.authoring.context import Context
from django_mcp.authoring.elicitation import InputRequired, MissingCapability
from django_mcp.authoring.progress import Cancelled, Reporter
from django_mcp.background.watch import Watch
from django_mcp.dispatch import locale, run, tasks
from django_mcp.dispatch.answer import CallResult
from django_mcp.dispatch.tasks import Record
from django_mcp.encoding.normalise import normalise
from django_mcp.policy import clock
from django_mcp.policy.axes import rebound
from django_mcp.registry import catalog as registry

logger = logging.getLogger("django_mcp")

_T = TypeVar("_T")

INTERNAL_ERROR: Final = -32603
MISSING_CAPABILITY: Final = -32021

#: What runs in this process, by task id.
_running: dict[str, Watch] = {}


def perform(task_id: str, *, watched: bool = True) -> None:
    """Run the work of a task in this thread, unless that was begun before. The end is told to the store.

    Called by a runner. Unless it is `watched`, nobody sees how it goes before it ends, nor can cancel it.
    Raises only what ends more than the work, such as KeyboardInterrupt.
    """
    worker = secrets.token_hex(16)
    record = _patiently(lambda: tasks.claim(task_id, worker))
    if record is None:
        return
    try:
        with locale.activated(record.locale):
            _perform(record, watched)
    except BaseException as raised:
        logger.error("The work of task %s failed outside of its tool.", task_id, exc_info=raised)
        told = _crash(raised)
        error = {"code": INTERNAL_ERROR, "message": told}
        _patiently(lambda: _settle(record, "failed", status_message=told, error=error))
        if not isinstance(raised, Exception):
            raise


def _perform(record: Record, watched: bool) -> None:
    ctx = _context(record)
    watch = Watch(record, ctx)
    ctx.reporter = Reporter(watch.report)
    _running[record.task_id] = watch
    try:
        with rebound(record.axes), watch if watched else nullcontext():
            result = _call(record, ctx, watch)
        ctx.reporter.flush()
    finally:
        del _running[record.task_id]
    _patiently(lambda: _conclude(record, ctx, result, watch.message))


def stop(task_id: str) -> None:
    """Tell work that runs in this process to stop."""
    watch = _running.get(task_id)
    if watch is not None:
        watch.cancel()


def _crash(raised: BaseException) -> str:
    if isinstance(raised, identity.UnknownIdentity):
        return "Whoever started it is not there any more."
    if isinstance(raised, _Gone):
        return "The tool is not served any more."
    return "The work failed outside of its tool; the site's log has it."


class _Gone(Exception):
    """What was submitted is not served any more."""


def _context(record: Record) -> Context:
    """The context of the call as it was submitted, as far as it outlives the request."""
    ctx = Context(identity=identity.restore(record.owner))
    ctx.server = record.server
    ctx.capabilities = record.capabilities
    ctx.meta = record.trace
    ctx.answers = record.answers
    # An answer reaches one task, and the task one run after it.
    ctx.single_use = True
    ctx.task = record.task_id
    return ctx


def _call(record: Record, ctx: Context, watch: Watch) -> CallResult | None:
    """The answer of the call; None where it stopped because it was cancelled."""
    catalog = registry.catalog(record.server)
    registration = catalog.by_name.get(record.tool)
    if registration is None:
        raise _Gone
    view = catalog.view(ctx)
    if not registration.awaits(record.action):
        try:
            return run.call(view, registration, record.arguments, ctx)
        except Cancelled:
            return None

    async def drive() -> CallResult | None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(run.acall(view, registration, record.arguments, ctx))
        try:
            with watch.stopping(lambda: loop.call_soon_threadsafe(task.cancel)):
                return await task
        except (Cancelled, asyncio.CancelledError):
            if not ctx.cancelled:
                raise
            return None

    return async_to_sync(drive)()


def _conclude(record: Record, ctx: Context, result: CallResult | None, message: str | None) -> None:
    """Write down what became of the work; nothing, where the task is over already."""
    told: dict[str, Any] = {} if message is None else {"status_message": message}
    interruption = None if result is None else result.interruption
    if isinstance(interruption, InputRequired):
        kept_s = conf.get().server(record.server).state_max_age_s
        if tasks.park(record, normalise(interruption.requests), ctx.carried, kept_s):
            return
        result = None
    if result is None:
        _settle(record, "cancelled", status_message=tasks.CANCELLED)
    elif isinstance(interruption, MissingCapability):
        required = dict(interruption.required)
        error = {
            "code": MISSING_CAPABILITY,
            "message": str(interruption),
            "data": {"requiredCapabilities": required},
        }
        _settle(record, "failed", status_message=str(interruption), error=error)
    else:
        status: tasks.Status = "failed" if result.is_error else "completed"
        _settle(record, status, result=result.packed(), **told)


def _settle(record: Record, status: tasks.Status, **changes: Any) -> None:
    """End a task that is still this worker's: one that was parked goes on with another."""
    tasks.settle(record, status, where={"worker": record.worker}, **changes)


def _patiently(step: Callable[[], _T]) -> _T:
    """A step that asks the database, which may be restarting.

    For 43 seconds: once there was no sign of life for a minute, whoever asks for the task has failed it.
    """
    retrying = Retrying(
        sleep=clock.get().sleep,
        retry=retry_if_exception_type((OperationalError, InterfaceError)),
        stop=stop_after_attempt(11),
        wait=wait_exponential(multiplier=0.1, max=10),
        before_sleep=lambda state: close_old_connections(),
        reraise=True,
    )
    return retrying(step)
