"""Per-request axes: a tenant, a region, whatever cuts a site's data into slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from django_mcp.errors import PermanentError

#: Axes that are not at their default, with their values, sorted by name.
Slice = tuple[tuple[str, str], ...]

_REQUIRED: Final[Any] = object()
#: Every axis there is, sorted by name; replaced, never changed, so that any thread may read it.
_axes: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class Params:
    """What a binder is told of the call: the tool's name, the arguments as sent, the request's `_meta`."""

    name: str
    arguments: Mapping[str, Any]
    meta: Mapping[str, Any]


class Axis:
    """One dimension that data is sliced by. Made once, at the top of a module.

    Without a `default` it is required: to ask for a value that nobody bound is a PermanentError.
    """

    __slots__ = ("_default", "_value", "name")

    def __init__(self, name: str, default: str = _REQUIRED) -> None:
        self.name = name
        self._default = default
        self._value: ContextVar[str | None] = ContextVar(f"django_mcp_axis_{name}", default=None)
        global _axes
        _axes = tuple(sorted((*_axes, self), key=lambda axis: axis.name))

    def current(self) -> str:
        """The value bound here, else the default. Raises PermanentError where there is neither."""
        value = self._value.get()
        if value is not None:
            return value
        if self._default is _REQUIRED:
            raise PermanentError(f"This call does not say its {self.name}.")
        return self._default

    def bound(self) -> str | None:
        """The value bound here, or None."""
        return self._value.get()

    def is_default(self) -> bool:
        """Whether this is as where nobody bound anything."""
        return self._value.get() in (None, self._default)

    @contextmanager
    def use(self, value: str) -> Iterator[None]:
        """Bind a value while the block runs; also in async code."""
        if not isinstance(value, str):
            raise TypeError(f"A value of the axis {self.name} is a string, not {type(value).__name__}.")
        token = self._value.set(value)
        try:
            yield
        finally:
            self._value.reset(token)


def all_axes() -> tuple[Axis, ...]:
    """Every axis there is, sorted by name."""
    return _axes


def slice_of_now() -> Slice:
    """What everything that must not cross tenants is kept under."""
    return tuple((axis.name, axis.current()) for axis in _axes if not axis.is_default())


def snapshot() -> dict[str, str]:
    """The values bound now, by axis name: plain JSON, to be bound again elsewhere with `rebound`."""
    return {axis.name: value for axis in _axes if (value := axis.bound()) is not None}


@contextmanager
def rebound(values: Mapping[str, str]) -> Iterator[None]:
    """Bind what `snapshot` took, in another thread or process. Raises PermanentError for an unknown axis."""
    known = {axis.name: axis for axis in _axes}
    with ExitStack() as stack:
        for name, value in values.items():
            if name not in known:
                raise PermanentError(f"There is no axis {name} here to bind again.")
            stack.enter_context(known[name].use(value))
        yield
