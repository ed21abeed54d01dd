"""What a setting's value may be: small kinds that compose, each telling all that is wrong with a value."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple

from django.utils.module_loading import import_string

from django_mcp.schema import bound
from django_mcp.schema.publish import suggestions


class Problem(NamedTuple):
    """One thing wrong: where (`["icons"][0]`, or empty), which rule, what is there, what to write instead."""

    place: str
    rule: str
    text: str
    fix: str


class Kind(ABC):
    """A kind of value. `text` completes "The value is not ...".

    `problems` finds what is wrong; only `deep` imports what dotted paths name. `freeze` makes a right value
    unchangeable.
    """

    text: str

    @abstractmethod
    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]: ...

    def freeze(self, value: Any) -> Any:
        return value

    def wrong(self, value: Any, place: str) -> Problem:
        return Problem(place, "setting-type", f"is {_shown(value)}, not {self.text}", f"Write {self.text}.")


def _shown(value: Any) -> str:
    text = bound.render(value)
    return f"'{text}'" if isinstance(value, str) else text


class Scalar(Kind):
    def __init__(self, text: str, accepts: Callable[[Any], bool]) -> None:
        self.text = text
        self._accepts = accepts

    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]:
        if not self._accepts(value):
            yield self.wrong(value, place)


class Optional(Kind):
    """None, or the kind within."""

    def __init__(self, kind: Kind) -> None:
        self.text = f"{kind.text}, or None"
        self._kind = copy(kind)
        self._kind.text = self.text

    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]:
        if value is not None:
            yield from self._kind.problems(value, place, deep=deep)

    def freeze(self, value: Any) -> Any:
        return None if value is None else self._kind.freeze(value)


class DottedPath(Kind):
    """A dotted path; `accepts` judges what it names, `names` says what that must be."""

    text = "a dotted path"

    def __init__(self, names: str, accepts: Callable[[Any], bool] = callable) -> None:
        self._names = names
        self._accepts = accepts

    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]:
        if not isinstance(value, str) or not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)+", value):
            yield self.wrong(value, place)
        elif deep:
            try:
                found = import_string(value)
            except ImportError as error:
                text = f"is {value!r}, which cannot be imported ({bound.render(error)})"
                yield Problem(place, "setting-import", text, f"Write the dotted path of {self._names}.")
                return
            if not self._accepts(found):
                text = f"is {value!r}, which is not {self._names}"
                yield Problem(place, "setting-import", text, f"Write the dotted path of {self._names}.")


class Items(Kind):
    """A list, tuple or set of one kind, frozen to a tuple (a set in ascending order)."""

    def __init__(self, kind: Kind, text: str, *, at_least: int = 0) -> None:
        self.text = text
        self._kind = kind
        self._at_least = at_least

    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]:
        if not isinstance(value, (list, tuple, set, frozenset)) or len(value) < self._at_least:
            yield self.wrong(value, place)
            return
        for number, item in enumerate(value):
            yield from self._kind.problems(item, f"{place}[{number}]", deep=deep)

    def freeze(self, value: Any) -> tuple[Any, ...]:
        ordered = sorted(value) if isinstance(value, (set, frozenset)) else value
        return tuple(self._kind.freeze(item) for item in ordered)


class Keyed(Kind):
    """A mapping with free keys of one kind and values of another."""

    def __init__(self, keys: Kind, values: Kind, text: str) -> None:
        self.text = text
        self._keys = keys
        self._values = values

    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield self.wrong(value, place)
            return
        for key, item in value.items():
            for problem in self._keys.problems(key):
                text = f"has a key that {problem.text}"
                yield Problem(place, problem.rule, text, problem.fix)
            yield from self._values.problems(item, f'{place}["{bound.render(key)}"]', deep=deep)

    def freeze(self, value: Any) -> Mapping[Any, Any]:
        return MappingProxyType({key: self._values.freeze(item) for key, item in value.items()})


class Table(Kind):
    """A mapping with a closed set of keys; `elsewhere` maps keys that belong somewhere else to where."""

    def __init__(
        self,
        keys: Mapping[str, Kind],
        *,
        required: tuple[str, ...] = (),
        elsewhere: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.text = f"a mapping with the keys {', '.join(keys)}"
        self._keys = keys
        self._required = required
        self._elsewhere = elsewhere

    def problems(self, value: Any, place: str = "", *, deep: bool = False) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            yield self.wrong(value, place)
            return
        nearest = suggestions([key for key in value if isinstance(key, str)], self._keys)
        for key, item in value.items():
            if key in self._keys:
                yield from self._keys[key].problems(item, f'{place}["{key}"]', deep=deep)
            elif key in self._elsewhere:
                text = f"has the key {key}, which has no meaning here"
                yield Problem(place, "setting-misplaced", text, f"Move it to {self._elsewhere[key]}.")
            else:
                fix = (
                    f"Did you mean {nearest[key]}?"
                    if key in nearest
                    else f"Keys are {', '.join(self._keys)}."
                )
                yield Problem(place, "setting-unknown", f"has the unknown key {bound.render(key)}", fix)
        for key in self._required:
            if key not in value:
                yield Problem(place, "setting-missing", f"lacks the key {key}", f"Add {key}.")

    def freeze(self, value: Any) -> Mapping[str, Any]:
        return MappingProxyType({key: self._keys[key].freeze(item) for key, item in value.items()})


def integer(minimum: int) -> Kind:
    return Scalar(
        f"an integer of at least {minimum}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= minimum,
    )


def number(*, above: float | None = None, at_least: float | None = None) -> Kind:
    """A finite number with a lower bound, exclusive or inclusive."""

    def accepts(value: Any) -> bool:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
            return False
        return value > above if above is not None else value >= (at_least or 0)

    return Scalar(
        f"a number above {above}" if above is not None else f"a number of at least {at_least}", accepts
    )


def one_of(*choices: str) -> Kind:
    listed = " or ".join(filter(None, (", ".join(map(repr, choices[:-1])), repr(choices[-1]))))
    return Scalar(listed, lambda value: isinstance(value, str) and value in choices)


def matching(text: str, pattern: str) -> Kind:
    return Scalar(text, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None)


SECONDS = Scalar(
    "a number of seconds above 0",
    lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf,
)
BOOLEAN = Scalar("True or False", lambda value: isinstance(value, bool))
STRING = Scalar("a string that is not blank", lambda value: isinstance(value, str) and bool(value.strip()))
CALLABLE = Scalar("a callable", callable)
URL = matching("an absolute http or https URL without a fragment", r"https?://[^\s/#?]+[^\s#]*")
ORIGIN = matching(
    "an origin such as 'https://app.example.com', 'null' or '*'", r"\*|null|\w[\w+.-]*://[^\s/#?]+"
)
TOKEN = matching("an auth-param name", r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
PARAMETER = Scalar(
    "a string of printable ASCII characters or a callable",
    lambda value: (
        callable(value) or (isinstance(value, str) and re.fullmatch(r"[\t -~]*", value) is not None)
    ),
)
STRINGS = Items(STRING, "a list, tuple or set of strings")
