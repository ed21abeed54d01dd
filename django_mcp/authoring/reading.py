"""Reading a tool class once: its class-level members, their shapes, its actions, its place in the source."""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from django.db import connections
from django.utils.functional import Promise

from django_mcp.authoring.declare import MARK
from django_mcp.authoring.icon import Icon, wires
from django_mcp.authoring.tool import BaseTool, Callbacks, Tool
from django_mcp.encoding.normalise import EncodingError, normalise
from django_mcp.schema import bound
from django_mcp.schema.offence import Offence


class Shape(NamedTuple):
    expected: str
    fits: Callable[[Any], bool]


def _words(value: Any) -> bool:
    return type(value) in (set, frozenset, list, tuple) and all(isinstance(word, str) for word in value)


def _icons(value: Any) -> bool:
    return type(value) in (list, tuple) and all(isinstance(item, (dict, Icon)) for item in value)


_TEXT = Shape("a string, lazily translated or not", lambda value: isinstance(value, (str, Promise)))
_OPTIONAL_TEXT = Shape("a string or None", lambda value: value is None or _TEXT.fits(value))
_MAP = Shape("a plain dict", lambda value: type(value) is dict)
_OPTIONAL_MAP = Shape("a plain dict or None", lambda value: value is None or type(value) is dict)

#: Every class-level member of a tool that is read: its name and the shape it must have.
SHAPES: dict[str, Shape] = {
    "name": Shape("a string", lambda value: type(value) is str),
    "description": _TEXT,
    "title": _OPTIONAL_TEXT,
    "annotations": _OPTIONAL_MAP,
    "output_schema": _OPTIONAL_MAP,
    "icons": Shape("a list of icons or None", lambda value: value is None or _icons(value)),
    "tags": Shape("a set, list or tuple of strings", _words),
}
ACTIONS_SHAPE = {"actions": _MAP}
INPUT_SHAPE = {"input_schema": _MAP, "options": _MAP}


class _QueryRefused(Exception):
    pass


@contextmanager
def _queries_noticed() -> Iterator[list[str]]:
    """Refuse every database query on every alias, and remember that one was tried."""
    tried: list[str] = []

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        tried.append(sql)
        raise _QueryRefused

    with ExitStack() as stack:
        for connection in connections.all():
            stack.enter_context(connection.execute_wrapper(refuse))
        yield tried


@dataclass
class Reading:
    """What one tool class declares. `values` holds only members whose shape is right."""

    tool: BaseTool
    values: dict[str, Any] = field(default_factory=dict)
    actions: dict[Any, Any] = field(default_factory=dict)
    handlers: dict[Any, Callable[..., Any]] = field(default_factory=dict)
    offences: list[Offence] = field(default_factory=list)

    def refuse(self, *, rule: str, message: str, fix: str, callback: str, action: str | None = None) -> None:
        self.offences.append(Offence(rule, message, fix, callback, action))

    @property
    def label(self) -> str:
        return str(self.values.get("name") or type(self.tool).__name__)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def read(cls: type[BaseTool]) -> Reading:
    """Read every member once. An exception of the author's own code comes out as itself."""
    reading = Reading(cls())
    members = dict(SHAPES)
    members.update(ACTIONS_SHAPE if isinstance(reading.tool, Tool) else INPUT_SHAPE)
    for name, shape in members.items():
        _read_member(reading, name, shape)
    reading.values["permission"] = _permission(reading)
    if isinstance(reading.tool, Tool):
        _read_actions(reading, reading.tool)
    _check_callbacks(reading)
    return reading


def _read_member(reading: Reading, name: str, shape: Shape) -> None:
    tool = reading.tool
    member = getattr(tool, name)
    if callable(member):
        with _queries_noticed() as tried:
            try:
                member = member()
            except _QueryRefused:
                member = None
        if tried:
            reading.refuse(
                rule="callback-queries",
                message=f"{name}() asks the database; it is read once, before any request.",
                fix=f"Make {name}() need no query; facts of the moment belong into action_context.",
                callback=name,
            )
            return
    if member is None and name == "name":
        member = snake_case(type(tool).__name__)
    if member is None and name == "description":
        member = _docstring(type(tool))
    if name == "actions" and member is None:
        return
    if shape.fits(member):
        reading.values[name] = member
        if problem := value_problem(name, member):
            reading.refuse(rule="callback-value", message=problem[0], fix=problem[1], callback=name)
        return
    reading.refuse(
        rule="callback-shape",
        message=f"{name} must be {shape.expected}; it is {bound.render(member)}.",
        fix="Write a docstring."
        if (name, member) == ("description", None)
        else f"Make {name} {shape.expected}.",
        callback=name,
    )


def value_problem(name: str, member: Any) -> tuple[str, str] | None:
    """What keeps a member of the right shape from being published, and what to do about it.

    Schemas and actions have rules of their own for it.
    """
    if name not in ("description", "title", "annotations", "icons"):
        return None
    try:
        normalise({name: wires(member) if name == "icons" else member})
    except EncodingError as error:
        return f"{error.path} is {error.problem}.", error.remedy
    return None


def _docstring(cls: type[BaseTool]) -> str | None:
    own = itertools.takewhile(lambda base: base not in (Tool, BaseTool), cls.__mro__)
    text = next((base.__doc__ for base in own if base.__doc__ is not None), None)
    return None if text is None else inspect.cleandoc(text)


def _permission(reading: Reading) -> Any:
    """A permission is a codename or a callable of the context; unlike the other members it is not called."""
    static = inspect.getattr_static(type(reading.tool), "permission")
    if inspect.isfunction(static) and len(inspect.signature(static).parameters) == 1:
        return static  # a function of the context assigned in the class body, not a method
    return reading.tool.permission


def _read_actions(reading: Reading, tool: Tool) -> None:
    methods = marked(type(tool), MARK)
    plain = reading.values.get("actions")
    if methods and plain is not None:
        reading.refuse(
            rule="actions-twice",
            message="The tool declares actions both with @action and in an actions mapping.",
            fix="Keep one of the two forms.",
            callback="actions",
        )
    if plain is not None and type(tool).run_action is Tool.run_action:
        reading.refuse(
            rule="callback-missing",
            message="The tool declares actions but does not define run_action(self, action, data, ctx).",
            fix="Define run_action, or mark methods with @action.",
            callback="run_action",
        )
    if not methods and type(tool).actions is None:
        reading.refuse(
            rule="callback-missing",
            message="The tool declares no actions.",
            fix="Mark methods with @action, or declare actions and run_action.",
            callback="actions",
        )
    for name, schema in (plain or {}).items():
        reading.actions[name] = schema
        reading.handlers[name] = functools.partial(tool.run_action, name)
    for name, function in methods.items():
        reading.actions[name] = getattr(function, MARK)
        reading.handlers[name] = getattr(tool, name)


def marked(cls: type, mark: str) -> dict[str, Any]:
    """Methods with a mark, by name; an override without the mark hides the one it overrides."""
    seen: dict[str, Any] = {}
    for base in cls.__mro__:
        for name, member in vars(base).items():
            seen.setdefault(name, member)
    # The mark may be inside of a staticmethod or a classmethod, or on it.
    inner = {
        name: member if hasattr(member, mark) else getattr(member, "__func__", member)
        for name, member in seen.items()
    }
    return {name: member for name, member in sorted(inner.items()) if hasattr(member, mark)}


def overrides(tool: Callbacks, callback: str) -> bool:
    """Whether a tool has a callback of its own."""
    return getattr(type(tool), callback) is not getattr(Callbacks, callback)


def additions(tool: Callbacks) -> list[str]:
    """The keys that a tool's callbacks may add to its answers."""
    callbacks = {"hints": "hints", "context": "action_context"}
    return [key for key, callback in callbacks.items() if overrides(tool, callback)]


#: Every callback and what it is called with.
_CALLBACKS: Final = {
    "before_submit": "action, data, ctx",
    "hints": "action, hint_context",
    "handle_error": "reason",
    "action_context": "action, ctx",
}


def callback_offences(tool: Callbacks) -> Iterator[Offence]:
    """Callbacks that no call could use."""
    for name, parameters in _CALLBACKS.items():
        callback = getattr(tool, name)
        problem = _call_problem(callback, *parameters.split(", "))
        if problem is not None:
            yield Offence(
                rule="callback-signature",
                message=f"{name} cannot be called: {problem}.",
                fix=f"Write it as {name}(self, {parameters}).",
                callback=name,
            )
        if inspect.iscoroutinefunction(callback):
            yield Offence(
                rule="callback-async",
                message=f"{name} is async def; only handlers and permissions may be.",
                fix=f"Write {name} as a plain def.",
                callback=name,
            )


def _check_callbacks(reading: Reading) -> None:
    tool = reading.tool
    reading.offences += callback_offences(tool)
    if not isinstance(tool, Tool) and type(tool).run is BaseTool.run:
        reading.refuse(
            rule="callback-missing",
            message="The tool does not define run(self, arguments, ctx).",
            fix="Define run.",
            callback="run",
        )
    elif not isinstance(tool, Tool):
        problem = _call_problem(tool.run, {}, None)
        if problem is not None:
            reading.refuse(
                rule="handler-signature",
                message=f"run cannot be called as a handler: {problem}.",
                fix="Write it as run(self, arguments, ctx).",
                callback="run",
            )


def _call_problem(called: Callable[..., Any], *arguments: Any) -> str | None:
    """Why something cannot be called with these arguments."""
    try:
        signature = inspect.signature(called)
    except ValueError:
        # Some of what is built into Python does not tell.
        return None
    try:
        signature.bind(*arguments)
    except TypeError as error:
        return str(error)
    return None


def handler_offences(reading: Reading) -> Iterator[Offence]:
    """Handlers that cannot be called."""
    for name, handler in reading.handlers.items():
        problem = _call_problem(handler, {}, None)
        if problem is None:
            continue
        if isinstance(handler, functools.partial):
            yield Offence(
                rule="handler-signature",
                message=f"run_action cannot be called as a handler: {problem}.",
                fix="Write it as run_action(self, action, data, ctx).",
                callback="run_action",
            )
            return
        yield Offence(
            rule="handler-signature",
            message=f"{name} cannot be called as a handler: {problem}.",
            fix="Write the handler as (self, data, ctx).",
            callback=str(name),
            action=str(name),
        )


def location(declared: Any, callback: str, action: str | None) -> str:
    """`file:line` of the action's method or the member at fault, else of what is declared, else empty."""
    for name in (action, callback):
        member = None if name is None else inspect.getattr_static(declared, name, None)
        code = getattr(inspect.unwrap(member), "__code__", None) if callable(member) else None
        if code is not None and code.co_filename != _FRAMEWORK_FILE:
            return f"{code.co_filename}:{code.co_firstlineno}"
    try:
        return f"{inspect.getsourcefile(declared)}:{inspect.getsourcelines(declared)[1]}"
    except (OSError, TypeError):
        return ""


_FRAMEWORK_FILE = BaseTool.run.__code__.co_filename
