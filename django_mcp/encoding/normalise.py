"""Python and Django values as plain JSON values: the one walk behind structured content, text and hints.

| value | becomes |
| --- | --- |
| str, bool, None, int of any size, finite float | itself; a subclass (SafeString) its plain value |
| mapping with string keys | object |
| list, tuple, `.values()` and `.values_list()` querysets | array |
| set, frozenset of scalars | array: null, booleans, numbers, strings, each in ascending order |
| Decimal | string |
| datetime | string, ISO 8601 with offset, `Z` for UTC; a naive one is taken to be in `TIME_ZONE` |
| date, time | string, ISO 8601 |
| timedelta | string, ISO 8601 duration as Django writes it |
| UUID | string |
| Enum, Django choices | its value |
| lazy string | string in the active language |
| dataclass | object of its fields |
| pydantic model or dataclass | what it serializes to in JSON mode, by alias |
| pydantic secret | `**********` |

Everything else is refused, with the path and what to write instead: model instances, managers and querysets
of instances (which fields go out is never guessed), bytes, NaN and infinity, lone surrogates, cycles, more
than 200 levels, keys that are not strings, containers in a set, iterators, objects of any other type.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from django.db.models import Model
from django.db.models.manager import BaseManager
from django.db.models.query import ModelIterable, QuerySet, RawQuerySet
from django.http import HttpResponseBase
from django.utils import timezone
from django.utils.duration import duration_iso_string
from django.utils.functional import Promise
from pydantic_core import to_jsonable_python

from django_mcp.schema import bound, paths

#: How many levels of arrays and objects a value may have: as many as a request may have.
MAX_DEPTH: Final = 200


class EncodingError(ValueError):
    """A value that does not become JSON.

    `path` is where it sits in the value (data-path syntax, `""` for the value itself), `problem` what is
    there, `remedy` what to write instead.
    """

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path or 'The value'} is {problem}. {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


def normalise(value: Any) -> Any:
    """The plain JSON value of `value`: dict, list, str, int, float, bool or None, by the module's table.

    A value that is plain already is returned as it is, not copied. Evaluates querysets, so not for the event
    loop. Raises EncodingError for what JSON cannot carry; exceptions of a queryset or a lazy string pass
    through.
    """
    try:
        return _dict(value, 1) if type(value) is dict else _walk(value, 1)
    except _Refused as refused:
        path = paths.ROOT
        for step in reversed(refused.trail):
            path = paths.join(path, step) if isinstance(step, str) else paths.item(path, step)
        raise EncodingError(path, refused.problem, refused.remedy) from refused.__cause__


class _Refused(Exception):
    """A refusal on its way up; every container it passes adds its step to the trail."""

    def __init__(self, problem: str, remedy: str, culprit: Any = None) -> None:
        self.problem = problem
        self.remedy = remedy
        self.culprit = culprit
        self.trail: list[str | int] = []

    def pass_through(self, container: Any, step: str | int) -> None:
        if container is self.culprit:
            self.problem = "a value that contains itself"
            self.remedy = "Return data without cycles, an id in the place of the inner value."
            self.trail.clear()
        else:
            self.trail.append(step)


def _walk(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    convert = _CONVERTERS.get(kind)
    if convert is not None:
        return convert(value, depth)
    for base, convert in _CONVERTERS.items():
        if isinstance(value, base):
            return convert(value, depth)
    return _object(value, depth)


def _string(value: str, depth: int) -> str:
    plain = str.__str__(value)
    if not plain.isascii():
        try:
            plain.encode()
        except UnicodeEncodeError:
            raise _Refused(
                "text with a lone surrogate, which is no character",
                'Clean the text, as in text.encode("utf-8", "replace").decode().',
            ) from None
    return plain


def _float(value: float, depth: int) -> float:
    plain = float(value)
    if plain - plain != 0:
        raise _Refused(f"the number {plain}, which JSON does not have", "Return None or a string.")
    return plain


def _decimal(value: decimal.Decimal, depth: int) -> str:
    if not value.is_finite():
        raise _Refused(f"the number {value}, which JSON does not have", "Return None or a string.")
    return str(value)


def _datetime(value: datetime.datetime, depth: int) -> str:
    if timezone.is_naive(value):
        value = timezone.make_aware(value, timezone.get_default_timezone())
    written = value.isoformat()
    return f"{written[:-6]}Z" if written.endswith("+00:00") else written


def _dict(value: Mapping[Any, Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _too_deep(value)
    plain: dict[str, Any] = {}
    changed = type(value) is not dict
    for key, item in value.items():
        name = key if type(key) is str and key.isascii() else _key(key)
        kind = type(item)
        try:
            ready = kind in _ATOMS or (kind is str and item.isascii())
            done = item if ready else _walk(item, depth + 1)
        except _Refused as refused:
            refused.pass_through(value, name)
            raise
        plain[name] = done
        if done is not item or name is not key:
            changed = True
    return plain if changed else value


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise _Refused(
            f"a mapping with the key {bound.render(key)} ({type(key).__name__})",
            "Keys of JSON objects are strings: write str(key).",
        )
    return _string(key, 0)


def _list(value: Iterable[Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _too_deep(value)
    plain: list[Any] = []
    changed = type(value) is not list
    for item in value:
        try:
            done = item if type(item) in _ATOMS else _walk(item, depth + 1)
        except _Refused as refused:
            refused.pass_through(value, len(plain))
            raise
        plain.append(done)
        if done is not item:
            changed = True
    return plain if changed else value


def _set(value: Iterable[Any], depth: int) -> list[Any]:
    plain = [_walk(item, depth + 1) for item in value]
    if any(isinstance(item, (dict, list)) for item in plain):
        raise _Refused("a set that holds more than scalars", "Return a list, in an order of your own.")
    return sorted(plain, key=_set_order)


def _set_order(scalar: Any) -> tuple[int, Any]:
    if scalar is None:
        return 0, 0
    if isinstance(scalar, bool):
        return 1, scalar
    return (3, scalar) if isinstance(scalar, str) else (2, scalar)


def _too_deep(container: Any) -> _Refused:
    return _Refused(f"a value nested more than {MAX_DEPTH} levels deep", "Return it flatter.", container)


def _queryset(value: QuerySet[Any], depth: int) -> Any:
    # Told without a query, so that an empty queryset is refused like a full one.
    if issubclass(value._iterable_class, ModelIterable):
        raise _instances("a queryset", value.model)
    return _list(value, depth)


def _raw_queryset(value: Any, depth: int) -> Any:
    raise _instances("a raw queryset", value.model)


def _manager(value: BaseManager[Any], depth: int) -> Any:
    raise _instances("a manager", value.model)


def _instances(what: str, model: type[Model]) -> _Refused:
    return _Refused(
        f"{what} of {model._meta.label} instances",
        f'Choose the fields to send, as in {model.__name__}.objects.values("{model._meta.pk.name}", ...).',
    )


def _model(value: Model, depth: int) -> Any:
    pk = value._meta.pk.name
    raise _Refused(
        f"an instance of the model {value._meta.label}",
        f'Choose the fields to send, as in {{"{pk}": instance.{pk}, ...}} or .values("{pk}", ...).',
    )


def _bytes(value: Any, depth: int) -> Any:
    raise _Refused(
        f"binary data ({type(value).__name__})",
        "Return text: base64.b64encode(data).decode(), or data.decode() where it is text.",
    )


def _object(value: Any, depth: int) -> Any:
    kind = type(value)
    # Told by pydantic's own protocols: a site without typed tools never imports pydantic.
    if hasattr(kind, "get_secret_value"):
        return "**********"
    if hasattr(kind, "__pydantic_serializer__") and not isinstance(value, type):
        return _pydantic(value, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value, depth)
    if isinstance(value, HttpResponseBase):
        remedy = "Return what it was made of: the response is made here."
    elif isinstance(value, Iterable):
        remedy = "Return list(...) of it."
    else:
        remedy = "Convert it to a mapping, a list, a string or a number."
    raise _Refused(f"an object of the type {_name(kind)}", remedy)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _dataclass(value: Any, depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise _too_deep(value)
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        try:
            plain[field.name] = _walk(getattr(value, field.name), depth + 1)
        except _Refused as refused:
            refused.pass_through(value, field.name)
            raise
    return plain


def _pydantic(value: Any, depth: int) -> Any:
    def walk(inner: Any) -> Any:
        return _walk(inner, depth + 1)

    try:
        plain = to_jsonable_python(value, by_alias=True, fallback=walk)
    except (TypeError, ValueError) as error:
        raise _Refused(
            f"an object of the type {_name(type(value))} that pydantic cannot serialize "
            f"({bound.render(error)})",
            "Correct the value or the model's serializers.",
        ) from error
    return _walk(plain, depth)


# What needs no look beyond its type.
_ATOMS = frozenset((bool, int, type(None)))

# In this order for subclasses: an enum may be a string or a number as well, a datetime is a date.
_CONVERTERS: dict[type, Callable[[Any, int], Any]] = {
    enum.Enum: lambda value, depth: _walk(value.value, depth),
    str: _string,
    int: lambda value, depth: int(value),
    float: _float,
    dict: _dict,
    list: _list,
    tuple: _list,
    decimal.Decimal: _decimal,
    datetime.datetime: _datetime,
    datetime.date: lambda value, depth: value.isoformat(),
    datetime.time: lambda value, depth: value.isoformat(),
    datetime.timedelta: lambda value, depth: duration_iso_string(value),
    uuid.UUID: lambda value, depth: str(value),
    Promise: lambda value, depth: _string(str(value), depth),
    set: _set,
    frozenset: _set,
    Mapping: _dict,
    QuerySet: _queryset,
    RawQuerySet: _raw_queryset,
    BaseManager: _manager,
    Model: _model,
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _bytes,
}
