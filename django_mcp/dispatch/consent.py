"""Asking the user before something is destroyed (`CONFIRM_DESTRUCTIVE`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django_mcp.authoring.elicitation import InputUnsupported
from django_mcp.dispatch import answer
from django_mcp.encoding import codec
from django_mcp.schema import bound, secrets

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.dispatch.answer import CallResult
    from django_mcp.registry.registration import Registration

#: The key of the question.
KEY: Final = "confirm"
#: No fields: what the user does with the form is the decision, and nothing in the arguments can stand for it.
_FORM: Final = {"type": "object", "properties": {}}


def refusal(registration: Registration, arguments: dict[str, Any], ctx: Context) -> CallResult | None:
    """What keeps a destructive call from running; None once its user has accepted this very call.

    Ends the call with the question where it was not put yet. The answer holds for one call.
    """
    try:
        given = ctx.elicit(_message(registration, arguments, ctx), _FORM, key=KEY, once=True)
    except InputUnsupported:
        text = (
            "This is destructive and needs the user's consent, but the client cannot ask for it: its "
            "request declares no capability elicitation.form. Tell the user to do it by other means."
        )
        return answer.refused("confirmation_unsupported", text)
    if given.accepted:
        return None
    text = "The user did not consent, so nothing was done. Do not call again unless the user asks for it."
    return answer.refused("declined", text)


def _message(registration: Registration, arguments: dict[str, Any], ctx: Context) -> str:
    name = registration.title or registration.name
    if registration.dispatches:
        what, sent = f"{name}: {ctx.action}", arguments.get("data", {})
    else:
        what, sent = str(name), arguments
    entry = registration.entry(ctx.action)
    schema = registration.input_schema if entry is None else entry.closure.schema
    shown = secrets.masked(sent, schema or {})
    return f"{what} is destructive. It would run with {bound.echo(codec.text(shown))}. Go on?"
