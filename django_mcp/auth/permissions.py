from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync

from django_mcp.authoring.elicitation import Interruption

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context

logger = logging.getLogger("django_mcp")


def allowed(permission: Any, ctx: Context) -> bool:
    """Whether the caller has a permission: `"app_label.codename"`, or a callable of the context, async or
    not.

    A permission that raises refuses: what cannot be decided is not granted.
    """
    try:
        if isinstance(permission, str):
            return bool(ctx.user.has_perm(permission))
        granted = permission(ctx)
        if inspect.isawaitable(granted):
            granted = async_to_sync(_settle)(granted)
        return bool(granted)
    except (Exception, Interruption):
        # Who sees a tool is decided before there is a call to be repeated: nobody can be asked here.
        ctx.interruption = None
        logger.exception("A permission raised and refuses: %r", permission)
        return False


async def _settle(awaitable: Any) -> Any:
    return await awaitable
