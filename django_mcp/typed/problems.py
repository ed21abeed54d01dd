"""A validator's refusal as problems by path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.core.exceptions import ValidationError as Refusal
from pydantic import ValidationError

from django_mcp.schema import bound, paths
from django_mcp.schema.secrets import holds_secret
from django_mcp.schema.values import Problems

#: How pydantic begins a sentence whose subject is the path here.
_PREFIXES: Final = ("Value error, ", "Assertion failed, ", "Input ")


def secrets(schema: dict[str, Any]) -> frozenset[str]:
    """The arguments that hold a secret at some depth."""
    return frozenset(name for name, one in schema["properties"].items() if holds_secret(one, schema))


def of(error: ValidationError, arguments: dict[str, Any], secret: frozenset[str]) -> Problems:
    """What each validator says of the value at its path, sorted; nothing is said of a secret."""
    found: dict[str, list[str]] = {}
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        steps = list(_steps(one["loc"], arguments))
        found.setdefault(paths.of(steps), []).append(_told(one["msg"], steps, secret))
    return sorted(found.items())


def said(refusal: Refusal, steps: list[str], secret: frozenset[str]) -> Problems:
    """What a validator of Django's says."""
    return [(paths.of(steps), [_told(text, steps, secret) for text in refusal.messages])]


def _told(text: str, steps: Sequence[int | str], secret: frozenset[str]) -> str:
    """What is told of a refusal: nothing where it may quote a secret, as one of all arguments may."""
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    if steps[0] in secret if steps else secret:
        text = ""
    return bound.render(text) or "is refused"


def _steps(location: tuple[int | str, ...], value: Any) -> Iterator[int | str]:
    """The steps of a location that lead through the data; the others name alternatives of a union."""
    for step in location:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            continue
        yield step
