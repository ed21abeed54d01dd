"""Django's tasks framework: a part of Django since 6.0, a package of its own before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import django

NAME: Final = "django.tasks" if django.VERSION >= (6, 0) else "django_tasks"
#: The extra of this package's distribution that brings it, with a database backend.
EXTRA: Final = "tasks" if django.VERSION >= (6, 0) else "tasks-compat"


def no_result() -> type[Exception]:
    """What a backend raises that is asked for a message it does not have."""
    raised: type[Exception] = import_module(f"{NAME}.exceptions").TaskResultDoesNotExist
    return raised


def task(backend: str) -> Callable[[Callable[[str], None]], Any]:
    """Decorator: a function as a task of a backend."""
    decorator: Callable[[Callable[[str], None]], Any] = import_module(NAME).task(backend=backend)
    return decorator
