"""Tasks of the protocol (MCP tasks extension): what its methods share, and how a task looks on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django_mcp import conf
from django_mcp.auth.identity import principal
from django_mcp.authoring.elicitation import MissingCapability
from django_mcp.dispatch import tasks
from django_mcp.dispatch.answer import CallResult
from django_mcp.dispatch.tasks import Record
from django_mcp.protocol import envelope, versions
from django_mcp.protocol.exchange import Exchange
from django_mcp.protocol.jsonrpc import INVALID_PARAMS, Message, ProtocolError, missing_capability
from django_mcp.registry.background import EXTENSION, takes_tasks
from django_mcp.schema import bound

METHODS: Final = ("tasks/get", "tasks/update", "tasks/cancel")


def check_params(message: Message) -> None:
    """The shape of a task method's params. Raises ProtocolError -32602."""
    params = message.params
    if not isinstance(params.get("taskId"), str):
        raise _invalid(message, "params.taskId must be a string that names a task.")
    if message.method == "tasks/update" and not isinstance(params.get("inputResponses"), dict):
        raise _invalid(message, "params.inputResponses must be an object of result objects.")


def _invalid(message: Message, text: str, reason: str = "invalid_params") -> ProtocolError:
    return ProtocolError(400, INVALID_PARAMS, reason, text, request_id=message.id)


def find(exchange: Exchange) -> Record:
    """The caller's task that a request names. Raises ProtocolError -32021 and -32602."""
    message, ctx = exchange.message, exchange.ctx
    if not takes_tasks(ctx.capabilities):
        raise missing_capability(message, MissingCapability({"extensions": {EXTENSION: {}}}))
    task_id = message.params["taskId"]
    record = tasks.find(task_id, server=ctx.server, owner=principal(ctx.user))
    if record is None:
        text = f"Unknown task: {bound.echo(task_id)}. Its id is wrong, or its time is over."
        raise _invalid(message, text, "unknown_task")
    return record


def shown(record: Record) -> dict[str, Any]:
    """A task as every message has it (`Task`). What failed as a tool has completed as a task."""
    status = "completed" if record.status == "failed" and record.result is not None else record.status
    members = {"taskId": record.task_id, "status": status}
    if record.status_message is not None:
        members["statusMessage"] = record.status_message
    return {
        **members,
        "createdAt": _time(record.created_at),
        "lastUpdatedAt": _time(record.last_updated_at),
        "ttlMs": record.ttl_ms,
        "pollIntervalMs": conf.get().tasks["POLL_INTERVAL_MS"],
    }


def detailed(record: Record) -> dict[str, Any]:
    """A task with what belongs to its status (`DetailedTask`)."""
    members = shown(record)
    if members["status"] == "input_required":
        members["inputRequests"] = {key: asked["request"] for key, asked in record.questions.items()}
    elif members["status"] == "completed":
        assert record.result is not None
        members["result"] = envelope.call_result(CallResult.unpacked(record.result), versions.MODERN)
    elif members["status"] == "failed":
        # Who fails a task without saying how has found its worker gone.
        members["error"] = record.error or {
            "code": -32603,
            "message": record.status_message or "Internal error",
        }
    return members


def _time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
