"""Running one call: announce, gate, begin the transaction, handler, answer, end the transaction.

The steps are `Run`'s and are the same for both drivers, `call` and `acall`; only who waits for the handler
differs.
"""

from __future__ import annotations

import asyncio
import copy
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections, transaction

from django_mcp import conf, signals
from django_mcp.auth import identity
from django_mcp.authoring.elicitation import Interruption
from django_mcp.authoring.errors import ToolError
from django_mcp.authoring.progress import Cancelled, running
from django_mcp.dispatch import answer, consent, gates, tasks
from django_mcp.dispatch.answer import CallResult
from django_mcp.dispatch.classify import verdict
from django_mcp.errors import DeadlineExceeded
from django_mcp.schema import bound
from django_mcp.typed.errors import Unconvertible

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.registry.catalog import View
    from django_mcp.registry.registration import ActionEntry, Registration

_P = ParamSpec("_P")
_T = TypeVar("_T")


def call(view: View, registration: Registration, arguments: dict[str, Any], ctx: Context) -> CallResult:
    """Answer a call from a thread that may touch the database. Never raises for what a tool does."""
    run = Run(view, registration, arguments, ctx)
    try:
        result = run.open()
        if result is None and run.submits:
            result = run.submit()
        if result is None:
            limit = run.limit
            result = run.attempt() if limit is None else async_to_sync(run.within)(limit)
    except BaseException as raised:
        return run.fail(raised)
    return run.stop(result)


async def acall(
    view: View, registration: Registration, arguments: dict[str, Any], ctx: Context
) -> CallResult:
    """`call` of an async handler: it is awaited on the event loop, all else runs in the request's thread."""
    run = Run(view, registration, arguments, ctx)
    try:
        result = await in_thread(run.open)
        if result is None and run.submits:
            result = await in_thread(run.submit)
        if result is None:
            limit = run.limit
            result = await (run.aattempt() if limit is None else run.within(limit))
    except BaseException as raised:
        return await in_thread(run.fail, raised)
    return await in_thread(run.stop, result)


async def in_thread(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a step in the request's thread, to its end even if the request is cancelled meanwhile.

    A step that begins or ends a transaction must not be abandoned half-way: nobody would close what it
    opened.
    """
    started = _started(step, *args, **kwargs)
    try:
        return await asyncio.shield(started)
    except asyncio.CancelledError:
        await _ended(started)
        raise


async def abandonable(ctx: Context, step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """`in_thread` for a whole call: when the request is cancelled, its context says so to the handler."""
    started = _started(step, *args, **kwargs)
    try:
        return await asyncio.shield(started)
    except asyncio.CancelledError:
        ctx.cancelled = True
        await _ended(started)
        raise


async def lasting(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """`in_thread` for a step whose outcome counts: what is committed can neither be given up nor be late."""
    started = _started(step, *args, **kwargs)
    await _ended(started)
    return started.result()


def _started(step: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> asyncio.Task[_T]:
    return asyncio.create_task(sync_to_async(step, thread_sensitive=True)(*args, **kwargs))


async def _ended(started: asyncio.Task[Any]) -> None:
    """Wait for what runs in the thread to its end, however often the request is cancelled meanwhile."""
    while not started.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([started])
    if not started.cancelled():
        started.exception()  # looked at, so that nobody complains where the cancellation is what is raised


class Run:
    """One call on its way."""

    __slots__ = (
        "_ctx",
        "_entry",
        "_registration",
        "_sent",
        "_started",
        "_view",
        "data",
        "handler",
    )

    def __init__(
        self, view: View, registration: Registration, arguments: dict[str, Any], ctx: Context
    ) -> None:
        ctx.view = view
        ctx.tool = registration.name
        sent = arguments.get("action") if registration.dispatches else None
        ctx.action = sent if isinstance(sent, str) else None
        self._view = view
        self._registration = registration
        self._ctx = ctx
        self._sent = arguments
        self._started = 0.0
        self._entry: ActionEntry | None = registration.entry(ctx.action)
        self.data = arguments
        # A call without a known action has no handler; the gates answer it.
        self.handler: Any = registration.run if self._entry is None else self._entry.handler

    @property
    def _options(self) -> Mapping[str, Any]:
        return self._registration.options if self._entry is None else self._entry.options

    @property
    def is_async(self) -> bool:
        return self._registration.is_async if self._entry is None else self._entry.is_async

    @property
    def limit(self) -> float | None:
        """Seconds an answer may take; None: any. Nothing interrupts a handler that is not awaited.

        The server's limit is one of requests, which somebody waits for; the work of a task takes its time.
        """
        if not self.is_async:
            return None
        if "timeout" in self._options or self._ctx.task is not None:
            limit: float | None = self._options.get("timeout")
            return limit
        return conf.get().server(self._ctx.server).call_timeout

    def open(self) -> CallResult | None:
        """Announce the call and pass it through the gates and the user's consent; a result is a refusal."""
        self._started = time.monotonic()
        self._signal(signals.tool_started)
        body = self._gate()
        if body is not None:
            return answer.refusal(body)
        return consent.refusal(self._registration, self._sent, self._ctx) if self._asks_first else None

    @property
    def _asks_first(self) -> bool:
        """Whether the user has to consent; to the work of a task it was consented before it was submitted."""
        if not self._options.get("destructive") or self._ctx.task is not None:
            return False
        return conf.get().server(self._ctx.server).confirm_destructive

    @property
    def submits(self) -> bool:
        """Whether the call answers with a task, and somebody else does the work."""
        return self._ctx.task is None and bool(self._options.get("background"))

    def submit(self) -> CallResult:
        """Hand the work over; the result is the receipt."""
        ctx = self._ctx
        self._registration.tool.before_submit(ctx.action, self.data, ctx)
        if not identity.is_stored(ctx.user):
            raise answer.OffContract("The work of a task needs a user that can be loaded from the database.")
        answers = {key: given for key, given in ctx.carried.items() if key != consent.KEY}
        record = tasks.submit(
            server=ctx.server,
            tool=self._registration.name,
            action=ctx.action,
            arguments=self._sent,
            owner=identity.principal(ctx.user),
            axes={},
            # Only a client that takes tasks can be asked while the work runs.
            capabilities={} if self._view.polls else dict(ctx.capabilities),
            answers=answers,
            request_id=ctx.request_id,
        )
        return answer.submitted(record)

    def attempt(self) -> CallResult:
        """Run the handler in a transaction of its own, which is committed once the answer is complete.

        Raises what the handler raised, after a rollback.
        """
        with ExitStack() as transactions:
            self._begin(transactions)
            handler = async_to_sync(self.handler) if self.is_async else self.handler
            with running(self._ctx):
                returned = handler(self.data, self._ctx)
            return self._answer(returned)

    async def aattempt(self) -> CallResult:
        """`attempt` of an async handler."""
        transactions = ExitStack()
        try:
            await in_thread(self._begin, transactions)
            with running(self._ctx):
                returned = await self.handler(self.data, self._ctx)
            return await lasting(self._complete, transactions, returned)
        except BaseException as raised:
            # Rolls back; where the answer is complete, the stack is empty already.
            await in_thread(transactions.__exit__, type(raised), raised, raised.__traceback__)
            raise

    async def within(self, limit: float) -> CallResult:
        """`aattempt` of a call whose time is limited. Raises DeadlineExceeded when it is over."""
        try:
            async with asyncio.timeout(limit) as scope:
                return await self.aattempt()
        except TimeoutError:
            if not scope.expired():
                raise
            raise DeadlineExceeded(f"The call took longer than {limit} seconds.") from None

    def stop(self, result: CallResult) -> CallResult:
        """Announce the answer."""
        self._signal(
            signals.tool_stopped,
            duration=time.monotonic() - self._started,
            is_error=result.is_error,
            error_kind=result.error_kind,
            source="live",
            degraded=False,
            attempts=0 if result.error_kind == "dispatch" or result.task is not None else 1,
        )
        return result

    def fail(self, raised: BaseException) -> CallResult:
        """Answer what was raised. What ends more than the call goes on its way."""
        if isinstance(raised, ToolError):
            try:
                return self.stop(answer.error(self._registration, raised, self._ctx, self._view))
            except (Exception, SystemExit) as worse:
                raised = worse
        raised = _essence(raised)
        if isinstance(raised, (Cancelled, asyncio.CancelledError)):
            self._signal(signals.tool_cancelled, duration=time.monotonic() - self._started)
            raise raised
        if isinstance(raised, Interruption):
            return self.stop(answer.interrupted(raised))
        found = verdict(raised)
        if found is not None:
            return self.stop(answer.failure(raised, found))
        if isinstance(raised, (Exception, SystemExit)):
            return self._fault(raised)
        raise raised

    def _gate(self) -> gates.Body | None:
        if self._registration.dispatches:
            return self._gate_action()
        if self._registration.typed is not None:
            body = gates.check_typed(self._registration, self._registration.typed, self._sent)
            return body or self._take(self._registration.typed, self._sent)
        return None

    def _gate_action(self) -> gates.Body | None:
        registration = self._registration
        body = gates.check_arguments(
            self._sent, gates.ACTION_ARGUMENTS, registration.name, gates.pointer(registration.name)
        )
        if body is not None:
            return body
        actions = self._view.actions(registration)
        name = self._ctx.action
        if name is None:
            return gates.missing_action(registration, actions)
        entry = actions.get(name)
        if entry is None:
            return gates.unknown_action(registration, actions, name)
        data = self._sent.get("data", {})
        return gates.check_data(registration, entry, data) or self._take(entry, data)

    def _take(self, entry: ActionEntry, data: dict[str, Any]) -> gates.Body | None:
        """Make of the data that passed what the handler gets; a validator of the site may still refuse it."""
        whole = entry.closure.integers(data)
        if entry.convert is None:
            # A copy, so that a handler that changes a default changes it for nobody else.
            self.data = {**copy.deepcopy(entry.defaults), **whole}
            return None
        try:
            self.data = entry.convert(whole)
        except Unconvertible as refused:
            return gates.refused_values(self._registration, entry, refused.problems)
        return None

    def _begin(self, transactions: ExitStack) -> None:
        """A transaction on every alias that has one around requests; none for what only reads.

        None for the work of a task either: it may take minutes, and others wait for what a transaction holds.
        """
        if self._options.get("read_only") or self._ctx.task is not None:
            return
        for alias, config in connections.settings.items():
            if config["ATOMIC_REQUESTS"]:
                transactions.enter_context(transaction.atomic(using=alias))

    def _complete(self, transactions: ExitStack, returned: Any) -> CallResult:
        with transactions:
            return self._answer(returned)

    def _answer(self, returned: Any) -> CallResult:
        return answer.success(self._registration, returned, self._ctx, self._view)

    def _fault(self, raised: BaseException) -> CallResult:
        reference = secrets.token_hex(4)
        text = bound.render(raised)
        shown = text if conf.get().expose_faults else f"Internal error; the site's log has it as {reference}."
        kind = "exit" if isinstance(raised, SystemExit) else type(raised).__name__
        if isinstance(raised, answer.OutputMismatch):
            body = {"errorType": "output_mismatch", "tool": self._registration.name, "message": shown}
        else:
            body = {
                "errorType": "tool_fault",
                "tool": self._registration.name,
                "exception": kind,
                "message": shown,
            }
        self._signal(
            signals.tool_failed,
            duration=time.monotonic() - self._started,
            exception=kind,
            error=text,
            crash_reason=raised,
            reference=reference,
        )
        return answer.fault(body, raised)

    def _signal(self, signal: Any, **fields: Any) -> None:
        signals.send(
            signal,
            self._registration.sender,
            server=self._ctx.server,
            tool=self._registration.name,
            action=self._ctx.action,
            request_id=self._ctx.request_id,
            **fields,
        )


def _essence(raised: BaseException) -> BaseException:
    """What a task group comes to: its failures, else the interruption that made it cancel its tasks, else
    that it was cancelled.
    """
    if not isinstance(raised, BaseExceptionGroup):
        return raised
    failures = raised.split((Interruption, asyncio.CancelledError))[1]
    if failures is not None:
        return failures
    leaves = list(_leaves(raised))
    return next((leaf for leaf in leaves if isinstance(leaf, Interruption)), leaves[0])


def _leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for inner in group.exceptions:
        if isinstance(inner, BaseExceptionGroup):
            yield from _leaves(inner)
        else:
            yield inner
