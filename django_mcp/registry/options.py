"""What is wrong with the options of a tool or an action."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import Any, Final

from django_mcp.policy.resolve import faults
from django_mcp.schema import bound
from django_mcp.schema.offence import Offence
from django_mcp.schema.vocabulary import spelling

_FLAGS: Final = ("read_only", "destructive", "idempotent", "open_world", "background")


def permission_offences(permission: Any, action: str | None) -> Iterable[Offence]:
    codename = isinstance(permission, str) and permission.count(".") == 1 and all(permission.split("."))
    if permission is not None and not codename and not callable(permission):
        yield Offence(
            rule="permission",
            message=f"{_of(action)}permission {bound.render(repr(permission))} is neither a codename "
            "nor a callable.",
            fix='Write "app_label.codename", or a callable that takes the context and returns a bool.',
            callback="permission" if action is None else "actions",
            action=action,
        )


def _of(action: str | None) -> str:
    return "" if action is None else f"Action {action}: "


def timeout_offences(options: Any, handler: Any, callback: str, action: str | None) -> Iterable[Offence]:
    """A thread cannot be interrupted, so a limit that it would not keep is refused."""
    if (
        type(options) is dict
        and options.get("timeout") is not None
        and not inspect.iscoroutinefunction(handler)
    ):
        yield Offence(
            rule="timeout-sync",
            message=f"{_of(action)}timeout stands on a handler that is not async; nothing interrupts it.",
            fix="Write the handler as async def, or remove timeout and look at ctx.cancelled in long loops.",
            callback=callback,
            action=action,
        )


def offences(options: Any, allowed: tuple[str, ...], action: str | None) -> Iterable[Offence]:
    callback = "options" if action is None else "actions"
    if type(options) is not dict:
        yield Offence(
            rule="options-shape",
            message=f"{_of(action)}options must be a plain dict; it is {bound.render(options)}.",
            fix=f"Write options as a dict of {', '.join(allowed)}.",
            callback=callback,
            action=action,
        )
        return
    stray = sorted(bound.render(key) for key in options if key not in allowed)
    if stray:
        yield Offence(
            rule="options-unknown",
            message=f"{_of(action)}unknown options {', '.join(stray)}; known are {', '.join(allowed)}.",
            fix=spelling(stray, allowed),
            callback=callback,
            action=action,
        )
    for flag in _FLAGS:
        if flag in options and type(options[flag]) is not bool:
            yield Offence(
                rule="options-type",
                message=f"{_of(action)}{flag} must be True or False; it is {bound.render(options[flag])}.",
                fix=f"Set {flag} to True or False.",
                callback=callback,
                action=action,
            )
    limit = options.get("timeout")
    if limit is not None and (type(limit) not in (int, float) or not 0 < limit < math.inf):
        yield Offence(
            rule="options-timeout",
            message=f"{_of(action)}timeout must be a number of seconds; it is {bound.render(limit)}.",
            fix="Set timeout to a number above 0.",
            callback=callback,
            action=action,
        )
    for fault in faults(options.get("policy")):
        yield Offence(fault.rule, f"{_of(action)}{fault.text}.", fault.fix, callback, action)
