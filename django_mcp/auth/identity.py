"""Who a caller is, in a form that outlives the request."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import Model


class UnknownIdentity(LookupError):
    """Whoever it was is not there any more, or was never in the database."""


def principal(user: Any) -> str:
    """The same text for the same caller, in every request and process; empty for nobody."""
    if getattr(user, "is_anonymous", False):
        return ""
    # By its class as it says itself: a lazily loaded user stands for the one it loads.
    cls = user.__class__
    if issubclass(cls, Model):
        return f"{cls._meta.label_lower}:{user.pk}"
    key = getattr(user, "pk", None)
    return f"{cls.__module__}.{cls.__qualname__}:{user if key is None else key}"


def is_stored(user: Any) -> bool:
    """Whether `restore` can find this caller again: nobody at all, or somebody in the database."""
    return bool(getattr(user, "is_anonymous", False)) or issubclass(user.__class__, Model)


def restore(name: str) -> Any:
    """The user that a principal names, None for nobody. Raises UnknownIdentity, for inactive users too."""
    if not name:
        return None
    label, _, key = name.partition(":")
    try:
        model = apps.get_model(label)
        user = model._default_manager.get(pk=key)
    except (LookupError, ValueError, ObjectDoesNotExist, ValidationError):
        raise UnknownIdentity(name) from None
    if not getattr(user, "is_active", True):
        raise UnknownIdentity(name)
    return user
