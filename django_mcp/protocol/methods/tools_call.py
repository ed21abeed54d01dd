from __future__ import annotations

from typing import Any

from django_mcp.authoring.elicitation import InputRequired, MissingCapability
from django_mcp.dispatch import run
from django_mcp.dispatch.answer import CallResult
from django_mcp.dispatch.threads import in_thread
from django_mcp.encoding.normalise import normalise
from django_mcp.protocol import envelope, state, tasks
from django_mcp.protocol.exchange import Exchange
from django_mcp.protocol.jsonrpc import INVALID_PARAMS, Message, ProtocolError, missing_capability
from django_mcp.registry.catalog import Catalog
from django_mcp.registry.registration import Registration
from django_mcp.schema import bound, publish


def check_params(message: Message) -> None:
    """The shape of a call's params (MCP `CallToolRequest`). Raises ProtocolError -32602."""
    params = message.params
    if not isinstance(params.get("name"), str):
        raise _invalid(message, "params.name must be a string that names a tool.")
    if not isinstance(params.get("arguments"), (dict, type(None))):
        raise _invalid(message, "params.arguments must be an object.")
    if "inputResponses" in params and not _are_results(params["inputResponses"]):
        raise _invalid(message, "params.inputResponses must be an object of result objects.")
    message.is_checked = True


def _are_results(responses: Any) -> bool:
    return isinstance(responses, dict) and all(isinstance(value, dict) for value in responses.values())


def _invalid(message: Message, text: str, reason: str = "invalid_params") -> ProtocolError:
    return ProtocolError(400, INVALID_PARAMS, reason, text, request_id=message.id)


def awaits(catalog: Catalog, message: Message) -> bool:
    """Whether the called handler has to be awaited on an event loop."""
    name, arguments = message.params.get("name"), message.params.get("arguments")
    registration = catalog.by_name.get(name) if isinstance(name, str) else None
    action = arguments.get("action") if isinstance(arguments, dict) else None
    return registration is not None and registration.awaits(action)


def answer(exchange: Exchange) -> bytes:
    """`tools/call` from a thread that may touch the database."""
    registration, arguments = _begin(exchange)
    result = run.call(exchange.view, registration, arguments, exchange.ctx)
    if exchange.ctx.reporter is not None:
        # The last progress goes out before the answer.
        exchange.ctx.reporter.flush()
    return _finish(exchange, result, arguments)


async def aanswer(exchange: Exchange) -> bytes:
    """`tools/call` on an event loop, for a handler to be awaited there."""
    registration, arguments = await in_thread(_begin, exchange)
    result = await run.acall(exchange.view, registration, arguments, exchange.ctx)
    if exchange.ctx.reporter is not None:
        exchange.ctx.reporter.flush()
    return await in_thread(_finish, exchange, result, arguments)


def _begin(exchange: Exchange) -> tuple[Registration, dict[str, Any]]:
    """The tool that is called, and the answers the caller brings along."""
    message, ctx = exchange.message, exchange.ctx
    name = message.params["name"]
    registration = exchange.view.get(name)
    if registration is None:
        # At HTTP 200, so that it is not mistaken for a method that does not exist.
        near = publish.suggestions([name], [visible.name for visible in exchange.view.registrations])
        meant = "".join(f" Did you mean {other}?" for other in near.values())
        text = (
            f"Unknown tool: {bound.echo(name)}.{meant} "
            "Call tools/list or the help tool for the tools there are."
        )
        raise ProtocolError(200, INVALID_PARAMS, "unknown_tool", text, request_id=message.id)
    arguments = message.params.get("arguments") or {}
    responses = message.params.get("inputResponses", {})
    if "requestState" in message.params:
        try:
            carried = state.read(
                message.params["requestState"],
                _round(exchange, arguments),
                max_age_s=exchange.settings.state_max_age_s,
            )
        except state.InvalidState:
            raise ProtocolError(
                400,
                INVALID_PARAMS,
                "invalid_request_state",
                "params.requestState is invalid or has expired; repeat the call without it.",
                {"reason": "invalid_request_state"},
                message.id,
            ) from None
        # An answer once given stands, whatever comes beside it.
        ctx.answers = {**responses, **carried.answers}
        ctx.single_use = carried.single_use
    else:
        ctx.answers = responses
    return registration, arguments


def _round(exchange: Exchange, arguments: dict[str, Any]) -> state.Round:
    return state.Round(exchange.ctx, exchange.message.method, exchange.message.params["name"], arguments)


def _finish(exchange: Exchange, result: CallResult, arguments: dict[str, Any]) -> bytes:
    message, settings, interruption = exchange.message, exchange.settings, result.interruption
    if isinstance(interruption, MissingCapability):
        raise missing_capability(message, interruption)
    if isinstance(interruption, InputRequired):
        requests = normalise(interruption.requests)
        signed = state.write(_round(exchange, arguments), exchange.ctx.carried, once=exchange.ctx.once)
        return envelope.input_required(settings, requests, signed)
    if result.task is not None and not exchange.view.polls:
        return envelope.task(settings, tasks.shown(result.task))
    return envelope.called(settings, result, message)
