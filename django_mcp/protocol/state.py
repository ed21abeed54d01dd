"""`requestState`: what a client carries from one round of a call to the next (MCP multi round-trip requests).

The state is signed and timed, not encrypted: the client can read it, so nothing secret belongs in an answer.
It holds for the caller, server, method, tool and arguments it was made for, and for nothing else.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core import signing
from django.core.cache import caches

from django_mcp import conf
from django_mcp.auth.identity import principal
from django_mcp.encoding import codec
from django_mcp.encoding.canonical import canonical

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

_SALT = "django_mcp.request_state"
_SPENT = "django_mcp:state:"


class InvalidState(Exception):
    """A `requestState` that is forged, expired, spent or made for another call; no difference is told."""


@dataclass(frozen=True, slots=True)
class Round:
    """The call a state belongs to."""

    ctx: Context
    method: str
    tool: str
    arguments: Mapping[str, Any]

    def binding(self) -> str:
        """One digest of everything the state is bound to."""
        bound_to = [
            principal(self.ctx.user),
            self.ctx.server,
            self.method,
            self.tool,
            canonical(self.arguments),
        ]
        return hashlib.sha256(codec.encode(bound_to)).hexdigest()


@dataclass(frozen=True, slots=True)
class Carried:
    """What a state brings: the answers given before, and whether it was good for this one time only."""

    answers: dict[str, Any]
    single_use: bool


def write(asked: Round, answers: Mapping[str, Any], *, once: bool) -> str:
    """A state that carries the answers given so far; with `once` it is accepted a single time."""
    payload = {"answers": dict(answers), "binding": asked.binding()}
    if once:
        payload["once"] = secrets.token_urlsafe(16)
    return signing.dumps(payload, salt=_SALT, compress=True)


def read(state: Any, repeated: Round, *, max_age_s: int) -> Carried:
    """What a state carries; one that is accepted a single time is spent by this. Raises InvalidState."""
    if not isinstance(state, str):
        raise InvalidState
    try:
        payload = signing.loads(state, salt=_SALT, max_age=max_age_s)
    except signing.BadSignature:
        raise InvalidState from None
    if payload["binding"] != repeated.binding():
        raise InvalidState
    once = payload.get("once")
    if once is not None and not _spend(once, max_age_s):
        raise InvalidState
    return Carried(payload["answers"], once is not None)


def _spend(nonce: str, max_age_s: int) -> bool:
    """Whether this is the first time, and from now on it is not: in the database, else in the cache."""
    if apps.is_installed("django_mcp.background"):
        spent: Any = apps.get_model("django_mcp_background", "SpentState")
        return bool(spent.objects.spend(nonce, max_age_s))
    return caches[conf.get().cache].add(f"{_SPENT}{nonce}", True, timeout=max_age_s)
