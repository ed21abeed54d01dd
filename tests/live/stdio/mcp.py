"""Tools that print, and say when they clean up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

from django_mcp import Context, Toolset, register, tool

print("printed at import")  # noqa: T201


def log(line):
    """Write a whole line, whatever other threads write."""
    sys.stderr.write(f"{line}\n")


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
        log("hanging")
        while not ctx.cancelled:
            time.sleep(0.01)
        log("given up")
        threading.Event().wait()

    @tool
    async def wait(self) -> None:
        """Wait for ever."""
        log("waiting")
        try:
            await asyncio.Event().wait()
        finally:
            log("cleaned up")

    @tool(background=True)
    async def work(self) -> None:
        """Work for ever."""
        await self.wait()
