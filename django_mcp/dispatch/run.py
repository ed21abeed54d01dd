"""Running one call: announce, gate, begin the transaction, handler, answer, end the transaction.

The steps are `Run`'s and are the same for both drivers, `call` and `acall`; only who waits for the handler
differs.
"""

from __future__ import annotations

import asyncio
import copy
import secrets
import time
from collections.abc import Awaitable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync

from django_mcp import conf, signals
from django_mcp.authoring.elicitation import Interruption
from django_mcp.authoring.errors import ToolError
from django_mcp.authoring.progress import Cancelled, current
from django_mcp.dispatch import answer, consent, gates, transactions
from django_mcp.dispatch.answer import CallResult
from django_mcp.dispatch.axes import abind, bind
from django_mcp.dispatch.chained import Chained
from django_mcp.dispatch.classify import verdict
from django_mcp.dispatch.groups import essence
from django_mcp.dispatch.submission import asubmitted, submitted
from django_mcp.dispatch.threads import announcing, in_thread, lasting
from django_mcp.errors import DeadlineExceeded
from django_mcp.policy.call import Outcome
from django_mcp.schema import bound
from django_mcp.typed.errors import Unconvertible

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.policy.chain import Chain
    from django_mcp.registry.binders import Binder
    from django_mcp.registry.catalog import View
    from django_mcp.registry.registration import ActionEntry, Registration


def call(view: View, registration: Registration, arguments: dict[str, Any], ctx: Context) -> CallResult:
    """Answer a call from a thread that may touch the database. Never raises for what a tool does."""
    run = Run(view, registration, arguments, ctx)
    if not run.binders:
        return _call(run, None)
    with ExitStack() as axes:
        return _call(run, axes)


def _call(run: Run, axes: ExitStack | None) -> CallResult:
    try:
        result = run.open()
        if result is None:
            if axes is not None:
                bind(run.binders, run.sent, run.ctx, axes)
            result = run.execute()
    except BaseException as raised:
        return run.fail(raised)
    return run.stop(result)


async def acall(
    view: View, registration: Registration, arguments: dict[str, Any], ctx: Context
) -> CallResult:
    """`call` of an async handler: it is awaited on the event loop, all else runs in the request's thread."""
    run = Run(view, registration, arguments, ctx)
    if not run.binders:
        return await _acall(run, None)
    with ExitStack() as axes:
        return await _acall(run, axes)


async def _acall(run: Run, axes: ExitStack | None) -> CallResult:
    try:
        result = await announcing(run.open)
        if result is None:
            if axes is not None:
                await abind(run.binders, run.sent, run.ctx, axes)
            result = await run.aexecute()
    except BaseException as raised:
        return await announcing(run.fail, raised)
    return await announcing(run.stop, result)


class Run:
    """One call on its way. `outcome` is what becomes of it, as far as is known."""

    __slots__ = (
        "_chain",
        "_entry",
        "_is_submitted",
        "_options",
        "_started",
        "_whole",
        "binders",
        "ctx",
        "data",
        "handler",
        "is_async",
        "outcome",
        "registration",
        "sent",
        "view",
    )

    def __init__(
        self, view: View, registration: Registration, arguments: dict[str, Any], ctx: Context
    ) -> None:
        ctx.view = view
        ctx.tool = registration.name
        sent = arguments.get("action") if registration.dispatches else None
        ctx.action = sent if isinstance(sent, str) else None
        self.view = view
        self.registration = registration
        self.ctx = ctx
        self.sent = arguments
        self._started = 0.0
        #: The data with whole numbers as integers, as it passed the gates.
        self._whole = arguments
        self._entry: ActionEntry | None = (
            registration.actions.get(ctx.action or "") if registration.dispatches else registration.typed
        )
        self.data = arguments
        # A call without a known action has no handler; the gates answer it.
        self.handler: Any = registration.run
        if self._entry is not None:
            self.handler = self._entry.handler
        called = self._entry or registration
        self._chain: Chain | None = called.chain
        #: What finds the axes' values for this call; the work of a task has those of its submission.
        self.binders: tuple[Binder, ...] = (
            view.catalog.binders.get(registration.name, ()) if ctx.task is None else ()
        )
        self._options: Mapping[str, Any] = called.options
        self.is_async = called.is_async
        #: Whether a worker does the work, and this call answers with the receipt for it.
        self._is_submitted = bool(called.options.get("background")) and ctx.task is None
        self.outcome = Outcome()

    @property
    def limit(self) -> float | None:
        """Seconds an answer may take; None: any. Nothing interrupts a handler that is not awaited.

        The server's limit is one of requests, which somebody waits for; the work of a task takes its time.
        """
        if not self.is_async:
            return None
        if "timeout" in self._options or self.ctx.task is not None:
            limit: float | None = self._options.get("timeout")
            return limit
        return conf.get().server(self.ctx.server).call_timeout

    def open(self) -> CallResult | None:
        """Announce the call and pass it through the gates and its user's consent; a result is a refusal.

        The work of a task was consented to before.
        """
        self._started = time.monotonic()
        if signals.tool_started.receivers:
            self.signal(signals.tool_started, trace=self.ctx.trace)
        refused = self._gate_action() if self.registration.dispatches else self._gate()
        if refused is not None:
            return refused
        destructive = self._options.get("destructive") and self.ctx.task is None
        if destructive and conf.get().server(self.ctx.server).confirm_destructive:
            return consent.refusal(self.registration, self.sent, self.ctx)
        return None

    def execute(self) -> CallResult:
        """Answer the call by its handler and what stands around it. Raises what is not answered there."""
        if self._is_submitted:
            return submitted(self)
        chain = self._chain
        if chain is not None:
            chained = Chained(self)
            return chained.report(chain.run(chained))
        self.outcome.attempts = 1
        if not self.is_async or self.limit is None:
            return self.attempt(self.handler, self.data, self.ctx)
        answering = self.aattempt(self.handler, self.data, self.ctx)
        result: CallResult = async_to_sync(self._within)(answering)
        return result

    async def aexecute(self) -> CallResult:
        """`execute` of an async handler."""
        if self._is_submitted:
            return await asubmitted(self)
        chain = self._chain
        if chain is not None:
            chained = Chained(self)
            return chained.report(await chain.arun(chained))
        self.outcome.attempts = 1
        answering = self.aattempt(self.handler, self.data, self.ctx)
        return await (answering if self.limit is None else self._within(answering))

    def attempt(self, handler: Any, data: Any, ctx: Context) -> CallResult:
        """Run a handler in a transaction of its own, which is committed once the answer is complete.

        Raises what the handler raised, after a rollback.
        """
        handler = async_to_sync(handler) if self.is_async else handler
        transaction = self._transaction()
        if transaction is None:
            return self._handled(handler, data, ctx)
        with transaction:
            return self._handled(handler, data, ctx)

    def _handled(self, handler: Any, data: Any, ctx: Context) -> CallResult:
        token = current.set(ctx)
        try:
            returned = handler(data, ctx)
        finally:
            current.reset(token)
        return answer.success(self.registration, returned, ctx, self.view)

    async def aattempt(self, handler: Any, data: Any, ctx: Context) -> CallResult:
        """`attempt` of an async handler."""
        stack = ExitStack()
        try:
            transaction = self._transaction()
            if transaction is not None:
                await in_thread(stack.enter_context, transaction)
            token = current.set(ctx)
            try:
                returned = await handler(data, ctx)
            finally:
                current.reset(token)
            return await lasting(self._complete, stack, returned, ctx)
        except BaseException as raised:
            # Rolls back; where the answer is complete, the stack is empty already.
            await in_thread(stack.__exit__, type(raised), raised, raised.__traceback__)
            raise

    def left(self) -> float | None:
        """Seconds that are left for the whole call; None where it has no limit."""
        limit = self.limit
        return None if limit is None else self._started + limit - time.monotonic()

    def in_time(self, handler: Any) -> Any:
        """For one of several attempts: a handler that raises DeadlineExceeded when the call's time ends."""
        if self.limit is None:
            return handler

        async def bounded(data: Any, ctx: Context) -> Any:
            return await self._within(handler(data, ctx))

        return bounded

    async def _within(self, answering: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(self.left()) as scope:
                return await answering
        except TimeoutError:
            if not scope.expired():
                raise
            raise DeadlineExceeded(f"The call took longer than {self.limit} seconds.") from None

    def stop(self, result: CallResult) -> CallResult:
        """Announce the answer."""
        if signals.tool_stopped.receivers:
            self.signal(
                signals.tool_stopped,
                duration=time.monotonic() - self._started,
                is_error=result.is_error,
                error_kind=result.error_kind,
                source=self.outcome.source,
                degraded=self.outcome.degraded,
                attempts=self.outcome.attempts,
            )
        return result

    def fail(self, raised: BaseException) -> CallResult:
        """Answer what was raised. What ends more than the call goes on its way."""
        if isinstance(raised, ToolError):
            try:
                return self.stop(answer.error(self.registration, raised, self.ctx, self.view))
            except (Exception, SystemExit) as worse:
                raised = worse
        raised = essence(raised)
        if isinstance(raised, (Cancelled, asyncio.CancelledError)):
            self.signal(signals.tool_cancelled, duration=time.monotonic() - self._started)
            raise raised
        if isinstance(raised, Interruption):
            return self.stop(answer.interrupted(raised))
        found = verdict(raised)
        if found is not None:
            return self.stop(answer.failure(raised, found))
        if isinstance(raised, (Exception, SystemExit)):
            return self._fault(raised)
        raise raised

    def _gate(self) -> CallResult | None:
        entry = self.registration.typed
        if entry is None:
            return None
        body = gates.check_typed(self.registration, entry, self.sent) or self._take(entry, self.sent)
        return None if body is None else answer.refusal(body, entry)

    def _gate_action(self) -> CallResult | None:
        registration = self.registration
        name = registration.name
        body = gates.check_arguments(self.sent, gates.ACTION_ARGUMENTS, name, name)
        if body is not None:
            return answer.refusal(body)
        action = self.ctx.action
        # What a worker does was admitted at submission: a permission may read of the request, which is gone.
        admitted = self.ctx.task is not None
        entry = self._entry if admitted else self.view.actions(registration).get(action or "")
        if entry is None:
            return answer.refusal(gates.no_action(registration, self.view.actions(registration), action))
        data = self.sent.get("data", {})
        body = gates.check_data(registration, entry, data) or self._take(entry, data)
        return None if body is None else answer.refusal(body, entry)

    def _take(self, entry: ActionEntry, data: dict[str, Any]) -> gates.Body | None:
        """Make of the data that passed what the handler gets; a validator of the site may still refuse it."""
        whole = self._whole = entry.closure.integers(data)
        if entry.convert is None:
            # A copy, so that a handler that changes a default changes it for nobody else.
            self.data = {**copy.deepcopy(entry.defaults), **whole} if entry.defaults else dict(whole)
            return None
        try:
            self.data = entry.convert(whole)
        except Unconvertible as refused:
            return gates.refused_values(self.registration, entry, refused.problems)
        return None

    def _transaction(self) -> AbstractContextManager[Any] | None:
        """What an attempt runs in; nothing for what only reads.

        Nothing for the work of a task either: it may take minutes, and others wait for what a transaction
        holds.
        """
        if self._options.get("read_only") or self.ctx.task is not None:
            return None
        return transactions.around()

    def _complete(self, stack: ExitStack, returned: Any, ctx: Context) -> CallResult:
        with stack:
            return self.answer(returned, ctx)

    def answer(self, returned: Any, ctx: Context) -> CallResult:
        """The answer to what a handler returned; proven, not sent."""
        return answer.success(self.registration, returned, ctx, self.view)

    def arguments(self) -> dict[str, Any]:
        """What was sent and passed, as JSON, with the defaults of what was left out."""
        if self._entry is None:
            return self._whole
        if self._entry.convert is None:
            return {**self._entry.defaults, **self._whole}
        properties = self._entry.closure.properties.items()
        defaults = {name: schema["default"] for name, schema in properties if "default" in schema}
        return {**defaults, **self._entry.defaults, **self._whole}

    def _fault(self, raised: BaseException) -> CallResult:
        reference = secrets.token_hex(4)
        text = bound.render(raised)
        kind = "exit" if isinstance(raised, SystemExit) else type(raised).__name__
        if isinstance(raised, answer.OutputMismatch):
            body = {"errorType": "output_mismatch", "tool": self.registration.name}
        else:
            body = {"errorType": "tool_fault", "tool": self.registration.name, "exception": kind}
        self.signal(
            signals.tool_failed,
            duration=time.monotonic() - self._started,
            exception=kind,
            error=text,
            crash_reason=raised,
            reference=reference,
        )
        return answer.fault(body, raised, text if conf.get().expose_faults else None, reference)

    def signal(self, signal: Any, **fields: Any) -> None:
        signals.send(
            signal,
            self.registration.sender,
            server=self.ctx.server,
            tool=self.registration.name,
            action=self.ctx.action,
            request_id=self.ctx.request_id,
            **fields,
        )
