"""What finds the values of a server's axes, for each call."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from django.utils.module_loading import import_string

from django_mcp.policy.axes import Axis, all_axes
from django_mcp.schema import bound
from django_mcp.schema.offence import Offence


class Binder(NamedTuple):
    """`function(ctx, params)` finds a call's value of the axis, or None where it does not say."""

    axis: Axis
    function: Callable[[Any, Any], Any]
    is_async: bool


def of(axes: Mapping[str, Mapping[str, str]]) -> tuple[Binder, ...]:
    """The binders of a sound setting, in its order."""
    found = []
    for stated in axes.values():
        function = import_string(stated["binder"])
        found.append(Binder(import_string(stated["axis"]), function, inspect.iscoroutinefunction(function)))
    return tuple(found)


def offences(server: str, axes: Mapping[str, Mapping[str, str]]) -> Iterator[Offence]:
    for name, stated in axes.items():
        try:
            axis, function = import_string(stated["axis"]), import_string(stated["binder"])
        except ImportError:
            continue  # told where the settings are judged
        where = f'Server {server}: DJANGO_MCP["AXES"]["{bound.render(name)}"]'
        if isinstance(axis, Axis) and axis.name != name:
            yield Offence(
                rule="axis-name",
                message=f"{where} is the axis {axis.name!r}.",
                fix=f'Write it as "{axis.name}".',
                callback="AXES",
            )
        if isinstance(axis, Axis) and Counter(one.name for one in all_axes())[axis.name] > 1:
            yield Offence(
                rule="axis-duplicate",
                message=f"{where} is one of several axes named {axis.name!r}.",
                fix="Make one Axis of a name, at the top of a module, and import it elsewhere.",
                callback="AXES",
            )
        try:
            inspect.signature(function).bind(None, None)
        except (TypeError, ValueError) as error:
            yield Offence(
                rule="axis-binder",
                message=f'{where}["binder"] cannot be called with ctx and params: {error}.',
                fix="Write it as binder(ctx, params).",
                callback="AXES",
            )
