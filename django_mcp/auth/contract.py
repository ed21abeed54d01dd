"""The contract of `AUTH`: who is calling, found from connection data and never from the body."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpRequest
from django.utils.module_loading import import_string

Authenticate = Callable[[HttpRequest], Any]


class AuthenticationFailed(Exception):
    """Raised by an authentication to refuse a request with 401; its text goes to the client."""


class ContractBroken(TypeError):
    """An authentication returned what is neither None nor a user."""


@lru_cache(maxsize=64)
def resolve(path: str) -> Authenticate:
    """The callable behind a dotted path: a function, or the `authenticate` of a class or an instance."""
    found = import_string(path)
    if inspect.isclass(found):
        found = found()
    method: Authenticate = getattr(found, "authenticate", found)
    return method


def authenticate(path: str, request: HttpRequest) -> Any:
    """The caller's identity, or None for an accepted anonymous caller. Raises what refuses the request."""
    found = resolve(path)(request)
    if inspect.isawaitable(found):
        found = async_to_sync(_settle)(found)
    return _judged(found)


async def aauthenticate(path: str, request: HttpRequest) -> Any:
    """`authenticate` on an event loop: whatever is not a coroutine function leaves it."""
    method = resolve(path)
    if inspect.iscoroutinefunction(method):
        return await sync_to_async(_judged)(await method(request))
    found = await sync_to_async(method)(request)
    if inspect.isawaitable(found):
        found = await found
    return await sync_to_async(_judged)(found)


async def _settle(awaitable: Any) -> Any:
    return await awaitable


def _judged(found: Any) -> Any:
    """The result, inspected: a truthy something is nobody. A lazy user is loaded here."""
    if found is not None and not hasattr(found, "is_authenticated"):
        raise ContractBroken(f"AUTH must return a user or None, not {type(found).__name__}.")
    return found
