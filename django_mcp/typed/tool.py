"""Declaring typed tools. Nothing here judges them: a module that declares a tool never fails to import."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypedDict, TypeVar, Unpack, overload

from django_mcp.authoring.declare import register
from django_mcp.authoring.tool import Callbacks

_F = TypeVar("_F", bound=Callable[..., Any])

TOOL_MARK: Final = "__mcp_tool__"

#: The method by which a Toolset is exposed without a mark.
EXECUTE: Final = "execute"

#: What a tool says of itself, besides the options it shares with actions.
TEXT_KEYS: Final = ("name", "title", "description", "tags", "icons")


class ToolOptions(TypedDict, total=False):
    """The options of `@tool`; those but `name` may also be set on a Toolset, for all of its tools."""

    name: str
    title: Any
    description: Any
    tags: Iterable[str]
    icons: Iterable[Any]
    permission: str | Callable[[Any], Any] | None
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    background: bool
    policy: Any
    timeout: float


@overload
def tool(function: _F, /) -> _F: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[_F], _F]: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Make a function a tool whose schemas come from its type hints.

    On a function of a module it also registers it; on a method of a `Toolset` it marks it, and the Toolset is
    registered with `@register`. `read_only`, `destructive`, `idempotent` and `open_world` are published as
    MCP `ToolAnnotations`. Raises nothing: what is wrong with a declaration is a system check error.
    """

    def mark(marked: _F) -> _F:
        if not _is_markable(marked):
            register(NoFunction(marked))
            return marked
        setattr(marked, TOOL_MARK, options)
        return marked if _is_method(marked) else register(marked)

    if function is None:
        return mark
    marked = mark(function)
    # What cannot be called was meant as an option: the function is still to come.
    return marked if callable(marked) else _unchanged


@dataclass(frozen=True, slots=True)
class NoFunction:
    """What `@tool` was given in the place of a function."""

    given: Any


def _unchanged(function: _F) -> _F:
    return function


def _is_markable(given: Any) -> bool:
    if isinstance(given, (staticmethod, classmethod)):
        given = given.__func__
    return inspect.isfunction(inspect.unwrap(given)) or inspect.isclass(given)


def _is_method(function: Any) -> bool:
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


class Toolset(Callbacks):
    """Several typed tools that belong together: methods marked with `@tool`.

    A Toolset with a method `execute` exposes it without a mark, unless `entrypoint` is False; where `execute`
    takes one pydantic model, the model's fields are the arguments. The class attributes below hold for every
    tool of the set that does not set its own. One instance serves all threads, so nothing about a call is
    kept on `self`. The `action` that the callbacks get is the name of the method.
    """

    #: The first part of the tools' names; the class name in snake_case when left out.
    name: ClassVar[str | None] = None
    #: Whether `execute` is a tool without being marked.
    entrypoint: ClassVar[bool] = True

    title: ClassVar[Any] = None
    description: ClassVar[Any] = None
    tags: ClassVar[Iterable[str]] = ()
    icons: ClassVar[Iterable[Any]] = ()
    permission: ClassVar[Any] = None
    read_only: ClassVar[bool | None] = None
    destructive: ClassVar[bool | None] = None
    idempotent: ClassVar[bool | None] = None
    open_world: ClassVar[bool | None] = None
    background: ClassVar[bool] = False
    policy: ClassVar[Any] = None
    timeout: ClassVar[float | None] = None


class Function(Callbacks):
    """The owner of a tool that is a function: it has the callbacks every tool has, as they come."""
