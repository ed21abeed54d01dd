"""What a function takes and returns, by its type hints."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from django_mcp.authoring.context import Context
from django_mcp.schema import bound
from django_mcp.typed.errors import Underivable, absent

#: Stands for a parameter without default.
REQUIRED: Final = inspect.Parameter.empty

_FILLED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument a caller may send. Without a hint it takes any value."""

    name: str
    hint: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a function, those among them without hint, who gets the context, what it returns."""

    parameters: tuple[Parameter, ...]
    unhinted: tuple[str, ...]
    contexts: tuple[str, ...]
    returns: Any


def signature_of(function: Callable[..., Any]) -> Signature:
    """Read a function or a bound method. Raises Underivable."""
    hints = _hints(function)
    parameters, contexts = [], []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise Underivable(
                "typed-parameter",
                f"the parameter {name} is positional-only, and arguments have names",
                "Move the slash in front of it, or drop the slash.",
            )
        if parameter.kind not in _FILLED:
            continue  # *args and **kwargs stay empty
        if hints.get(name) in (Context, Context | None):
            contexts.append(name)
        else:
            parameters.append(Parameter(name, hints.get(name, Any), parameter.default))
    unhinted = tuple(one.name for one in parameters if one.name not in hints)
    return Signature(tuple(parameters), unhinted, tuple(contexts), hints.get("return", Any))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise absent(error.name) from None
    except (TypeError, SyntaxError, AttributeError) as error:
        raise Underivable(
            "typed-hint", f"a hint cannot be evaluated: {bound.render(error)}", "Correct the hint."
        ) from None


def caller(function: Callable[..., Any], contexts: Iterable[str]) -> Callable[[dict[str, Any], Context], Any]:
    """A handler that hands its data over as keyword arguments, async if the function is."""
    names = tuple(contexts)
    if inspect.iscoroutinefunction(function):

        async def awaited(data: dict[str, Any], ctx: Context) -> Any:
            return await function(**data, **dict.fromkeys(names, ctx))

        return awaited

    def called(data: dict[str, Any], ctx: Context) -> Any:
        return function(**data, **dict.fromkeys(names, ctx))

    return called
