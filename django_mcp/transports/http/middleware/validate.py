from __future__ import annotations

import json
import re
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse

from django_mcp.authoring.context import Context
from django_mcp.authoring.errors import ConfigurationError
from django_mcp.protocol import versions
from django_mcp.protocol.jsonrpc import Message
from django_mcp.protocol.methods import tools_call
from django_mcp.schema import bound
from django_mcp.schema.headers import HeaderRow
from django_mcp.transports.http.checks import WireCheck, exchange, message
from django_mcp.transports.http.middleware.binding import decoded

_DECIMAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?")
_ABSENT = object()


class Validate(WireCheck):
    """The params have their method's shape, and mirrored arguments are what their `Mcp-Param` headers say."""

    name = "validate"
    reasons = frozenset({"invalid_params", "header_mismatch"})

    def check(self, request: HttpRequest) -> HttpResponse | None:
        sent = message(request)
        # A legacy client reads errors at HTTP 200 only, so its params are judged where its call is answered.
        if sent.is_request and not sent.legacy and sent.method == "tools/call":
            tools_call.check_params(sent)
            for row in self._rows(request, sent):
                _compare(request, sent, row)
        return None

    async def acheck(self, request: HttpRequest) -> HttpResponse | None:
        # Which tools mirror arguments is found through the caller's permissions, which may ask the database.
        return await sync_to_async(self.check)(request) if self._mirrors(request) else self.check(request)

    @staticmethod
    def _mirrors(request: HttpRequest) -> bool:
        try:
            return exchange(request).server.catalog.mirrors
        except ConfigurationError:
            # Answered, for every request alike, where the server is asked.
            return False

    def _rows(self, request: HttpRequest, sent: Message) -> tuple[HeaderRow, ...]:
        """The mirrored arguments of the tool called, if the caller sees that tool at all."""
        if not self._mirrors(request):
            return ()
        ctx = Context(request=request, identity=exchange(request).identity)
        registration = exchange(request).server.catalog.view(ctx).get(sent.params["name"])
        return () if registration is None else registration.header_rows


def _compare(request: HttpRequest, sent: Message, row: HeaderRow) -> None:
    argument = _argument(sent.params.get("arguments"), row.path)
    header = request.META.get(row.meta_key)
    where = ".".join(row.path)
    if argument is _ABSENT:
        if header is not None:
            raise versions.mismatch(sent, f"The header {row.header} is sent without the argument {where}.")
        return
    if header is None:
        raise versions.mismatch(sent, f"The header {row.header} is missing; it mirrors the argument {where}.")
    value = decoded(header)
    if value is None or not _equal(value, argument, row.type):
        text = f"The header {row.header} is {bound.echo(header)!r} but the argument {where} is {_shown(argument)}."
        raise versions.mismatch(sent, text)


def _argument(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(arguments, dict) or arguments.get(step) is None:
            return _ABSENT
        arguments = arguments[step]
    return arguments


def _shown(argument: Any) -> str:
    return bound.render(json.dumps(argument, ensure_ascii=False))


def _equal(header: str, argument: Any, kind: str) -> bool:
    if isinstance(argument, bool):
        return header == ("true" if argument else "false")
    if kind == "integer" and isinstance(argument, (int, float)):
        # Numerically, for plain decimals: 42.0 is 42.
        return _DECIMAL.fullmatch(header) is not None and float(header) == argument
    if isinstance(argument, str):
        return header == argument
    # A value of another type is the value gate's to refuse; the header mirrors its JSON.
    return header == json.dumps(argument)
