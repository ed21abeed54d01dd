"""Collecting declarations. Nothing here judges them: a module that declares a tool never fails to import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypedDict, TypeVar, Unpack, overload

from django_mcp.schema.vocabulary import OPTION_KEYS

MARK = "__mcp_action__"

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])


class ActionSchema(TypedDict, total=False):
    """The keys `@action` takes: eight that are published, then the options."""

    description: Any
    properties: Mapping[str, Any]
    required: list[str]
    required_one_of: list[list[str]]
    defaults: Mapping[str, Any]
    notes: str
    related: list[str]
    examples: list[Mapping[str, Any]]
    permission: str | Callable[[Any], Any] | None
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    background: bool
    policy: Any
    timeout: float


@overload
def action(function: _F, /) -> _F: ...
@overload
def action(**schema: Unpack[ActionSchema]) -> Callable[[_F], _F]: ...
def action(function: Any = None, /, **schema: Any) -> Any:
    """Mark a method `(self, data, ctx)` of a `Tool` as an action; its name is the action's.

    Takes the action schema flat: what help and tools/list publish (`description`, `properties`, `required`,
    `required_one_of`, `defaults`, `notes`, `related`, `examples`) and the options that stay on the server
    (`permission`, `read_only`, `destructive`, `idempotent`, `open_world`, `background`, `policy`, `timeout`).
    Raises nothing: what is wrong with a schema is a system check error.
    """

    # What is no function is told by the check that finds it in the place of the schema.
    given = None if function is None or callable(function) else (function,)

    def mark(marked: _F) -> _F:
        options = {key: value for key, value in schema.items() if key in OPTION_KEYS}
        declared = {key: value for key, value in schema.items() if key not in OPTION_KEYS}
        if options:
            declared["options"] = options
        setattr(marked, MARK, declared if given is None else given)
        return marked

    return mark(function) if callable(function) else mark


#: Immutable, so that whoever built something from them sees by identity that they changed.
_declared: tuple[Any, ...] = ()
_builtin: tuple[Any, ...] = ()
#: Whatever was ever registered, also while other tools are declared in its place.
_registered: list[Any] = []


def register(tool: _T) -> _T:
    """Class decorator: serve this tool on every server whose filters admit it."""
    global _declared
    _declared = (*_declared, tool)
    _registered.append(tool)
    return tool


def builtin(tool: _T) -> _T:
    """Class decorator of the framework's own tools, which every server lists after the site's."""
    global _builtin
    _builtin = (*_builtin, tool)
    return tool


def declarations() -> tuple[Any, ...]:
    return _declared


def registered() -> tuple[Any, ...]:
    """Everything that was ever registered."""
    return tuple(_registered)


def builtins() -> tuple[Any, ...]:
    return _builtin


@contextmanager
def replaced(tools: Iterable[Any]) -> Iterator[None]:
    """Declare exactly these tools for a while."""
    global _declared
    before = _declared
    _declared = tuple(tools)
    try:
        yield
    finally:
        _declared = before
