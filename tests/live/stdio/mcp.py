"""Tools that print, and say when they clean up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

from django_mcp import Context, Toolset, register, tool

print("printed at import")  # noqa: T201


@register
class Chatty(Toolset):
    @tool
    def count(self, to: int, ctx: Context) -> str:
        """Count."""
        print("printed by a handler")  # noqa: T201
        # A child that would read the messages if it could.
        subprocess.run(["sh", "-c", "cat; echo from a child"], check=True)
        for number in range(1, to + 1):
            ctx.report_progress(number, to)
        return f"zählt bis {to}"

    @tool
    def hang(self, ctx: Context) -> None:
        """Never end, whatever happens."""
        print("hanging", file=sys.stderr, flush=True)  # noqa: T201
        while not ctx.cancelled:
            time.sleep(0.01)
        print("given up", file=sys.stderr, flush=True)  # noqa: T201
        threading.Event().wait()

    @tool
    async def wait(self) -> None:
        """Wait for ever."""
        print("waiting", file=sys.stderr, flush=True)  # noqa: T201
        try:
            await asyncio.Event().wait()
        finally:
            print("cleaned up", file=sys.stderr, flush=True)  # noqa: T201
