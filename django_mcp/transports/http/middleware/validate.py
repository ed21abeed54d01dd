from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpResponse

from django_mcp.authoring.errors import ConfigurationError
from django_mcp.encoding import codec
from django_mcp.protocol import versions
from django_mcp.protocol.jsonrpc import Message
from django_mcp.protocol.methods import tools_call
from django_mcp.schema import bound
from django_mcp.schema.headers import HeaderRow
from django_mcp.transports.http.checks import Request, WireCheck, context
from django_mcp.transports.http.middleware.binding import decoded

_DECIMAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?")
_ABSENT = object()


class Validate(WireCheck):
    """The params have their method's shape, and mirrored arguments are what their `Mcp-Param` headers say."""

    name = "validate"
    reasons = frozenset({"invalid_params", "header_mismatch"})

    def check(self, request: Request) -> HttpResponse | None:
        sent = request.mcp.message
        if sent.is_request and sent.method == "tools/call":
            # A legacy client reads errors at HTTP 200 only: its params are judged where its call is answered.
            if not sent.legacy:
                tools_call.check_params(sent)
            if self._mirrors(request, sent):
                for row in self._rows(request, sent):
                    _compare(request, sent, row)
        return None

    async def acheck(self, request: Request) -> HttpResponse | None:
        # The first look at the tools builds them, which runs the site's code; and whether the caller sees a
        # tool is up to permissions, which may ask the database.
        sent = request.mcp.message
        is_call = sent.method == "tools/call"
        if is_call and (not request.mcp.server.is_built or self._mirrors(request, sent)):
            return await sync_to_async(self.check)(request)
        return self.check(request)

    @staticmethod
    def _mirrors(request: Request, sent: Message) -> bool:
        """Whether any tool of the server mirrors arguments."""
        try:
            return request.mcp.server.view(sent, context(request)).catalog.mirrors
        except ConfigurationError:
            # Answered, for every request alike, where the server is asked.
            return False

    def _rows(self, request: Request, sent: Message) -> tuple[HeaderRow, ...]:
        """The mirrored arguments of the tool called, if the caller sees that tool at all."""
        name = sent.params.get("name")
        if not isinstance(name, str):
            return ()
        registration = request.mcp.server.view(sent, context(request)).get(name)
        return () if registration is None else registration.header_rows


def _compare(request: Request, sent: Message, row: HeaderRow) -> None:
    argument = _argument(sent.params.get("arguments"), row.path)
    header = request.META.get(row.meta_key)
    where = ".".join(row.path)
    if argument is _ABSENT:
        if header is not None:
            raise versions.mismatch(sent, f"The header {row.header} is sent without the argument {where}.")
        return
    if header is None:
        if sent.legacy:
            return
        raise versions.mismatch(sent, f"The header {row.header} is missing; it mirrors the argument {where}.")
    value = decoded(header)
    if value is None or not _equal(value, argument, row.type):
        said, stated = bound.echo(header), bound.echo(codec.text(argument))
        text = f"The header {row.header} is {said!r} but the argument {where} is {stated}."
        raise versions.mismatch(sent, text)


def _argument(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(arguments, dict) or arguments.get(step) is None:
            return _ABSENT
        arguments = arguments[step]
    return arguments


def _equal(header: str, argument: Any, kind: str) -> bool:
    if isinstance(argument, bool):
        return header == ("true" if argument else "false")
    if kind == "integer" and isinstance(argument, (int, float)):
        # Numerically, for plain decimals: 42.0 is 42.
        return _DECIMAL.fullmatch(header) is not None and Decimal(header) == argument
    if isinstance(argument, str):
        return header == argument
    # A value of another type is the value gate's to refuse; the header mirrors its JSON.
    return header == codec.text(argument)
