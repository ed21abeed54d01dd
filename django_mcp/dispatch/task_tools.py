"""The tools with which a client polls background work, on every server that has any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from django_mcp.auth.identity import principal
from django_mcp.authoring.declare import builtin
from django_mcp.authoring.tool import BaseTool
from django_mcp.dispatch import answer, tasks
from django_mcp.dispatch.answer import UNSET, CallResult
from django_mcp.dispatch.tasks import Record
from django_mcp.encoding import codec
from django_mcp.schema import bound

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

_INPUT: Final = {
    "type": "object",
    "properties": {"task_id": {"type": "string"}},
    "required": ["task_id"],
    "additionalProperties": False,
}
_VIEW: Final = {
    "type": "object",
    "properties": {
        "task_id": {"type": "string"},
        "status": {
            "type": "string",
            "enum": ["working", "input_required", "completed", "failed", "cancelled"],
        },
        "message": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["task_id", "status"],
    "title": "TaskStatusView",
}
_READS: Final = {"readOnlyHint": True}


class TaskTool(BaseTool):
    """A tool that takes the id of a task of the caller's."""

    input_schema = _INPUT
    options: ClassVar[Any] = {"read_only": True}
    #: Served where a tool with background work is, to clients that cannot have tasks of the protocol.
    shared_by_tasks = True

    def run(self, arguments: dict[str, Any], ctx: Context) -> Any:
        """Answer for the task; an id that is none of the caller's is refused."""
        task_id = arguments.get("task_id")
        if not isinstance(task_id, str) or not task_id:
            text = f"{ctx.tool} needs task_id: the id that a background call answered with, a string."
            return answer.refused("invalid_arguments", text)
        record = tasks.find(task_id, server=ctx.server, owner=principal(ctx.user))
        if record is None:
            text = f"There is no task {bound.echo(task_id)!r}: the id is wrong, or its time is over."
            return answer.refused("unknown_task", text)
        return self.tell(record)

    def tell(self, record: Record) -> Any:
        """What the tool says of a task that is the caller's."""


@builtin
class TaskStatus(TaskTool):
    """Tells how a background task stands: working, completed, failed or cancelled; and its latest message."""

    annotations = _READS
    output_schema = _VIEW

    def tell(self, record: Record) -> Any:
        return _status(record)


@builtin
class TaskResult(TaskTool):
    """Fetches the result of a background task that has ended; answers not_ready while it is working."""

    annotations = _READS

    def tell(self, record: Record) -> Any:
        if not record.settled:
            text = f"Task {record.task_id} is {record.status}. Ask again in a while, with task_status."
            return answer.refused("not_ready", text, retryable=True)
        if record.result is None:
            text = f"Task {record.task_id} is {record.status} and has no result: {record.status_message}"
            return answer.refused(record.status, text)
        result = CallResult.unpacked(record.result)
        if not result.is_error and not result.wrapped:
            result.structured = {"result": _value(result)}
        return result


@builtin
class TaskCancel(TaskTool):
    """Asks a background task to stop, and tells how it stands; it may take a moment until it has stopped."""

    output_schema = _VIEW
    options: ClassVar[Any] = {}

    def tell(self, record: Record) -> Any:
        return _status(tasks.cancel(record))


def _status(record: Record) -> dict[str, Any]:
    return {"task_id": record.task_id, "status": record.status, "message": record.status_message}


def _value(result: CallResult) -> Any:
    """What the work returned: its structured content, else what its only text block says."""
    if result.structured is not UNSET:
        return result.structured
    if len(result.content) == 1 and result.content[0]["type"] == "text":
        text = result.content[0]["text"]
        try:
            return codec.decode(text.encode())
        except codec.DecodeError:
            return text
    return None
