"""From what a handler returned or raised to what the caller gets."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django_mcp.authoring.context import Content
from django_mcp.authoring.elicitation import Interruption, MissingCapability
from django_mcp.authoring.errors import ErrorKind, ToolError
from django_mcp.authoring.hint import Hint
from django_mcp.authoring.progress import Cancelled
from django_mcp.authoring.reply import OMITTED, Reply
from django_mcp.dispatch.classify import Verdict
from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise
from django_mcp.policy.classify import classify
from django_mcp.schema import bound

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.dispatch.tasks import Record
    from django_mcp.registry.catalog import View
    from django_mcp.registry.registration import ActionEntry, Registration
    from django_mcp.typed.derive import Output

ATTEMPTS = "django_mcp.attempts"
ERROR = "django_mcp.error"
RETRYABLE = "django_mcp.retryable"
SOURCE = "django_mcp.source"
DEGRADED = "django_mcp.degraded"


class _Unset(enum.Enum):
    UNSET = "unset"


#: Stands for "no structured content", which is not the same as null.
UNSET: Final = _Unset.UNSET


@dataclass(slots=True)
class CallResult:
    """What a call answers, before any protocol revision shapes it (MCP `CallToolResult`)."""

    content: list[dict[str, Any]]
    structured: Any = UNSET
    is_error: bool = False
    error_kind: ErrorKind | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    #: What ended the call before it had an answer: input that is needed first, or a capability.
    interruption: Interruption | None = None
    #: The task that was begun instead of an answer.
    task: Record | None = None
    #: Whether the structured content is `{"result": ...}` already, as a typed tool's is that is no object.
    wrapped: bool = False
    #: The structured content as JSON, where it is known already.
    encoded: bytes | None = None

    def packed(self) -> dict[str, Any]:
        """An answer as JSON, to be kept."""
        packed = {
            "content": self.content,
            "is_error": self.is_error,
            "meta": self.meta,
            "wrapped": self.wrapped,
        }
        return packed if self.structured is UNSET else {**packed, "structured": self.structured}

    @classmethod
    def unpacked(cls, packed: Mapping[str, Any]) -> CallResult:
        """The answer that was kept."""
        structured = packed.get("structured", UNSET)
        kind: ErrorKind | None = "tool" if packed["is_error"] else None
        return cls(
            packed["content"],
            structured,
            packed["is_error"],
            kind,
            packed["meta"],
            wrapped=packed["wrapped"],
        )


class OutputMismatch(Exception):
    """A successful answer breaks the tool's output schema; the message lists where and why."""


class OffContract(Exception):
    """A handler or callback returned what its contract does not allow."""


def refusal(body: Mapping[str, Any], entry: ActionEntry | None = None) -> CallResult:
    """A gate's answer, of plain values: the handler has not run, and it says how to call instead.

    `entry` is what refuses the data that it was called with, and explains itself.
    """
    encoded = codec.encode(body)
    if entry is not None:
        encoded = b"%b,%b" % (encoded[:-1], entry.explained()[1:])
    return _error(encoded.decode(), "dispatch", code="invalid_arguments", retryable=True)


def refused(code: str, text: str, *, retryable: bool = False) -> CallResult:
    """A refusal that is neither the caller's mistake nor the tool's failure; no handler was started."""
    return _error(text, "dispatch", code=code, retryable=retryable)


def submitted(task: Record) -> CallResult:
    """The answer to a call whose work has only begun."""
    body = {"task_id": task.task_id}
    return CallResult([{"type": "text", "text": codec.text(body)}], body, task=task)


def fault(body: Mapping[str, Any], raised: BaseException, exposed: str | None, reference: str) -> CallResult:
    """The answer to a failure that is the server's, not the caller's: what it says where that may be told."""
    kind = classify(raised)
    message = exposed
    if message is None:
        may_pass = kind == "transient"
        then = (
            "Call again later."
            if may_pass
            else "Do not repeat the call with the same arguments; tell the user."
        )
        message = f"Internal error; the site's log has it as {reference}. {then}"
    return _error(
        codec.text({**body, "message": message}), "tool", code=kind or "error", retryable=kind == "transient"
    )


def failure(raised: BaseException, found: Verdict) -> CallResult:
    """The answer to an exception of the taxonomy: its message, then what to do."""
    text = "\n".join(filter(None, (str(raised), found.hint)))
    return _error(text, "tool", code=found.code, retryable=found.retryable, **found.meta)


def interrupted(raised: Interruption) -> CallResult:
    """No answer yet, or none for this client."""
    if isinstance(raised, MissingCapability):
        return CallResult([], is_error=True, error_kind="tool", interruption=raised)
    return CallResult([], interruption=raised)


def _error(text: str, kind: ErrorKind, *, code: str, retryable: bool, **meta: Any) -> CallResult:
    return CallResult(
        [{"type": "text", "text": bound.sendable(text)}],
        is_error=True,
        error_kind=kind,
        meta={ERROR: code, RETRYABLE: retryable, **meta},
    )


def success(registration: Registration, returned: Any, ctx: Context, view: View) -> CallResult:
    """The answer to a handler that returned. Raises what `run` contains as a fault or a mismatch."""
    if ctx.interruption is not None:
        if isinstance(ctx.interruption, Cancelled):
            raise ctx.interruption
        raise OffContract(
            "The handler caught what ends its call (raised by ctx.elicit or the like) and went on."
        )
    value: Any = returned
    hint_context: Any = OMITTED
    if type(returned) is not dict:
        if inspect.isawaitable(returned):
            if inspect.iscoroutine(returned):
                returned.close()
            raise OffContract("The handler returned an awaitable; write it as async def.")
        if isinstance(returned, CallResult):
            # The framework's own tools pass on answers that were complete before.
            return returned
        if isinstance(returned, Reply):
            value, hint_context = returned.value, returned.hint_context
    additions = None
    if hint_context is not OMITTED or registration.has_context:
        additions = _additions(registration, hint_context, ctx, view)
    output, encoded = registration.output, None
    if isinstance(value, Content):
        if additions:
            raise OffContract("Content blocks cannot carry hints or context; return a mapping.")
        content = normalise(list(value))
        plain = _structured_from(content)
        structured = plain if output is None else _shaped(output, plain)
    else:
        plain = normalise(value) if output is None else output.dump(value)
        structured = plain if output is None else _shaped(output, plain)
        if additions:
            if not isinstance(structured, dict):
                raise OffContract("Only a mapping can carry hints or context.")
            structured = plain = {**structured, **additions}
        if output is not None and isinstance(plain, str):
            # A typed tool's text is the text that its function returns.
            text = plain
        else:
            encoded = codec.encode(plain)
            text = encoded.decode()
        content = [{"type": "text", "text": text}]
    result = CallResult(content)
    if output is not None:
        result.meta = {SOURCE: "live", DEGRADED: False}
        result.wrapped = output.wrapped
    if registration.output_gate is not None:
        if not registration.output_gate.is_valid(structured):
            raise OutputMismatch(_mismatch(registration, structured))
        result.structured = structured
        if encoded is not None:
            # Without additions, the value is its structured content, or the one member of that.
            result.encoded = encoded if structured is plain else b'{"result":%b}' % encoded
    return result


def _shaped(output: Output, plain: Any) -> Any:
    """The value as a typed tool publishes it: clients before 2026-07-28 know only objects."""
    return {"result": plain} if output.wrapped else plain


def _structured_from(content: list[dict[str, Any]]) -> Any:
    """The value behind hand-built content: the object of its only text block, else an empty one."""
    if len(content) == 1 and content[0].get("type") == "text":
        try:
            value = codec.decode(content[0]["text"].encode())
        except codec.DecodeError:
            return {}
        if isinstance(value, dict):
            return value
    return {}


def _mismatch(registration: Registration, structured: Any) -> str:
    assert registration.output_gate is not None
    problems, count = registration.output_gate.problems(structured)
    listed = [f"{path or 'the answer'}: {'; '.join(texts)}" for path, texts in problems]
    places = "1 path" if count == 1 else f"{count} paths"
    return f"The answer breaks the tool's output schema at {places}. {' | '.join(listed)}"


def error(registration: Registration, raised: ToolError, ctx: Context, view: View) -> CallResult:
    """The answer to a ToolError: plain text, or JSON with hints and context where a hint context is given."""
    text = registration.tool.handle_error(raised.reason)
    if not isinstance(text, str):
        raise OffContract(f"handle_error must return a string, not {type(text).__name__}.")
    if raised.hint_context is not OMITTED:
        body = {"error": text, **_additions(registration, raised.hint_context, ctx, view)}
        text = codec.text(normalise(body))
    if raised.kind == "dispatch":
        return _error(text, "dispatch", code="invalid_arguments", retryable=True)
    return _error(text, "tool", code="error", retryable=False)


def _additions(registration: Registration, hint_context: Any, ctx: Context, view: View) -> dict[str, Any]:
    """`hints` when there are any, `context` when the tool states one."""
    additions: dict[str, Any] = {}
    if hint_context is not OMITTED:
        hints = [
            _visible(hint, view) for hint in registration.tool.hints(_called(registration, ctx), hint_context)
        ]
        published = [hint for hint in hints if hint is not None]
        if published:
            additions["hints"] = normalise(published)
    context = action_context(registration, _called(registration, ctx), ctx)
    if context is not None:
        additions["context"] = context
    return additions


def _called(registration: Registration, ctx: Context) -> str | None:
    """What the callbacks are told was called: the action, or the function of a typed tool."""
    return ctx.action if registration.typed is None else registration.typed.name


def _visible(hint: Any, view: View) -> dict[str, Any] | None:
    """A hint as published, or None where it names what this caller cannot see."""
    if not isinstance(hint, Hint):
        raise OffContract(f"hints must yield Hint objects, not {type(hint).__name__}.")
    target = view.get(hint.tool)
    if target is None or (target.dispatches and hint.action not in view.actions(target)):
        return None
    return hint.wire()


def action_context(registration: Registration, action: str | None, ctx: Context) -> dict[str, Any] | None:
    """The tool's facts of the moment, or None where it states none."""
    if not registration.has_context:
        return None
    context = registration.tool.action_context(action, ctx)
    if context is None:
        return None
    if not isinstance(context, Mapping):
        raise OffContract(f"action_context must return a mapping or None, not {type(context).__name__}.")
    plain: dict[str, Any] = normalise(context)
    return plain
