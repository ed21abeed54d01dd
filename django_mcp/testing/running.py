"""Running one tool without HTTP, through the door that HTTP uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.utils.datastructures import CaseInsensitiveMapping

from django_mcp.authoring import declare
from django_mcp.authoring.context import Context
from django_mcp.background import work
from django_mcp.encoding import codec
from django_mcp.protocol import jsonrpc, versions
from django_mcp.protocol.jsonrpc import Message
from django_mcp.protocol.versions import MODERN
from django_mcp.server import Server, get_server
from django_mcp.testing import results
from django_mcp.testing.requests import build_request, call_params
from django_mcp.testing.rounds import ASKS, Answers, Rounds


@contextmanager
def served(*tools: Any) -> Iterator[None]:
    """Serve exactly these tools, besides the framework's own, while the block runs."""
    with declare.replaced(tools):
        yield


def build_context(
    *,
    server: str = "default",
    request_id: str | int = 1,
    user: Any = None,
    meta: Mapping[str, Any] | None = None,
    assigns: dict[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    version: str = MODERN,
) -> Context:
    """A context as a call has it, for `run_tool` and for calling a handler by hand.

    `user` is who authentication found (None: nobody), `assigns` what it and middleware left, `meta` what the
    request's `_meta` holds besides the protocol's own fields.
    """
    ctx = Context(identity=user, assigns=assigns, headers=CaseInsensitiveMapping(headers or {}))
    ctx.server = server
    ctx.request_id = request_id
    ctx.meta = meta or {}
    ctx.capabilities = capabilities or {}
    ctx.version = version
    return ctx


def run_tool(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    action: str | None = None,
    data: Mapping[str, Any] | None = None,
    ctx: Context | None = None,
    answers: Answers | None = None,
) -> dict[str, Any]:
    """Call a tool as `tools/call` does, gates and transaction included; the MCP result, as on the wire.

    The caller is `ctx`, made by `build_context`; it is left as it was. With `answers`, by key, questions to
    the user are answered until the call is done (see `Client.call`); without, the result that asks is
    returned. Raises JSONRPCError for a refusal such as an unknown tool, ConfigurationError for an offence of
    a declaration.
    """
    call = _Call(call_params(tool, arguments, action, data), ctx, answers)
    params: dict[str, Any] | None = call.params
    while params is not None:
        response = call.server.handle(call.message(params), call.context())
        result = results.read(response.status, response.body)
        params = call.rounds.after(result)
    return result


async def arun_tool(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    action: str | None = None,
    data: Mapping[str, Any] | None = None,
    ctx: Context | None = None,
    answers: Answers | None = None,
) -> dict[str, Any]:
    """`run_tool` on an event loop."""
    call = _Call(call_params(tool, arguments, action, data), ctx, answers)
    params: dict[str, Any] | None = call.params
    while params is not None:
        response = await call.server.ahandle(call.message(params), call.context())
        result = results.read(response.status, response.body)
        params = call.rounds.after(result)
    return result


def run_task(task: str | Mapping[str, Any], *, ctx: Context | None = None) -> dict[str, Any]:
    """Do the work of a background call in this thread, and return its result as `task_result` has it.

    `task` is what the call answered with, or the id in it; `ctx` is who asks for the result. A task that a
    worker has begun is left to it.
    """
    task_id = task if isinstance(task, str) else str(task["structuredContent"]["task_id"])
    work.perform(task_id, watched=False)
    return run_tool("task_result", {"task_id": task_id}, ctx=ctx)


class _Call:
    """A call and the caller that makes it."""

    def __init__(self, params: dict[str, Any], ctx: Context | None, answers: Answers | None) -> None:
        self.ctx = build_context() if ctx is None else ctx
        self.params = params
        self.rounds = Rounds(params, answers)
        self.server: Server = get_server(self.ctx.server)
        self._capabilities = self.ctx.capabilities or (ASKS if answers else {})
        # Asked for here, because an offence is worth more to a test than the wire's word for it.
        _ = self.server.catalog

    def context(self) -> Context:
        """A context as the transport makes one; the server fills in what the message says."""
        ctx = self.ctx
        return Context(request=ctx.request, identity=ctx.user, assigns=ctx.assigns, headers=ctx.headers)

    def message(self, params: Mapping[str, Any]) -> Message:
        """What the transport hands on for these params, read from bytes as there."""
        body = build_request(
            "tools/call",
            params,
            id=self.ctx.request_id,  # type: ignore[arg-type]  # None and fractions are refused like any id
            version=self.ctx.version,
            capabilities=self._capabilities,
            meta=self.ctx.meta,
        )
        message = jsonrpc.classify(codec.decode(codec.encode(body)))
        versions.choose_era(message, self.ctx.version, self.server.settings)
        return message
