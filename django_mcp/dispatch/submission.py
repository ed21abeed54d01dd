"""Handing the work of a call to whoever does it later."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from django_mcp.auth import identity
from django_mcp.authoring.progress import Cancelled
from django_mcp.dispatch import answer, consent, locale, tasks
from django_mcp.dispatch.threads import in_thread, lasting
from django_mcp.policy import axes

if TYPE_CHECKING:
    from django_mcp.dispatch.answer import CallResult
    from django_mcp.dispatch.run import Run
    from django_mcp.dispatch.tasks import Record


def submitted(run: Run) -> CallResult:
    """The receipt for a call that passed all that stands before its handler.

    A task whose caller has given the call up meanwhile is cancelled: nobody learns its id.
    """
    receipt, record = _submitted(run)
    if run.ctx.cancelled:
        tasks.cancel(record)
        raise Cancelled
    return receipt


async def asubmitted(run: Run) -> CallResult:
    """`submitted` on the event loop."""
    submissions: list[tuple[CallResult, Record]] = []
    try:
        await in_thread(lambda: submissions.append(_submitted(run)))
    except asyncio.CancelledError:
        for _, record in submissions:
            await lasting(tasks.cancel, record)
        raise
    [(receipt, _)] = submissions
    return receipt


def _submitted(run: Run) -> tuple[CallResult, Record]:
    ctx = run.ctx
    run.registration.tool.before_submit(ctx.action, run.data, ctx)
    if not identity.is_stored(ctx.user):
        raise answer.OffContract("The work of a task needs a user that can be loaded from the database.")
    record = tasks.submit(
        server=ctx.server,
        tool=run.registration.name,
        action=ctx.action,
        arguments=run.sent,
        owner=identity.principal(ctx.user),
        axes=axes.snapshot(),
        locale=locale.snapshot(),
        trace=ctx.trace,
        # Only a client that takes tasks can be asked while the work runs.
        capabilities={} if run.view.polls else dict(ctx.capabilities),
        answers={key: given for key, given in ctx.carried.items() if key != consent.KEY},
        request_id=ctx.request_id,
    )
    return answer.submitted(record), record
