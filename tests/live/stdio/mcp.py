"""Tools that print, and say when they clean up."""

from __future__ import annotations

import asyncio
import sys

from django_mcp import Context, Toolset, register, tool

print("printed at import")  # noqa: T201


@register
class Chatty(Toolset):
    @tool
    def count(self, to: int, ctx: Context) -> str:
        """Count."""
        print("printed by a handler")  # noqa: T201
        for number in range(1, to + 1):
            ctx.report_progress(number, to)
        return f"zählt bis {to}"

    @tool
    async def wait(self) -> None:
        """Wait for ever."""
        print("waiting", file=sys.stderr, flush=True)  # noqa: T201
        try:
            await asyncio.Event().wait()
        finally:
            print("cleaned up", file=sys.stderr, flush=True)  # noqa: T201
