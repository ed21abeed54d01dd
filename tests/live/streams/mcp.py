"""Tools that are told how to go on by other calls, which the same process answers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from pathlib import Path

from django.dispatch import receiver

from django_mcp import Tool, action, register, signals
from django_mcp.authoring.progress import INTERVAL_S
from example_project.tracker.models import Project

NAME = {"name": {"type": "string"}}
STEPS = {**NAME, "steps": {"type": "integer"}}
RUN = {**STEPS, "size": {"type": "integer"}}

#: What has happened, by name; what waits for it gives up after a while.
EVENTS = defaultdict(threading.Event)
PATIENCE_S = 10
CANCELLED = []


def wait(name):
    if not EVENTS[name].wait(PATIENCE_S):
        raise TimeoutError(name)


@receiver(signals.tool_cancelled)
def remember(request_id, **fields):
    CANCELLED.append(request_id)
    EVENTS[f"{request_id} cancelled"].set()


def left():
    files = [file.resolve().name for file in Path("/proc/self/fd").iterdir()]
    return {
        "threads": sum(thread.name.startswith("django_mcp call") for thread in threading.enumerate()),
        "tasks": sum(task.get_coro().__qualname__.startswith("Call.") for task in asyncio.all_tasks()),
        "databases": sum("sqlite3" in name for name in files),
    }


@register
class Control(Tool):
    """Says what happens elsewhere in this process, and makes it happen."""

    @action(description="Let what waits for it go on", properties=NAME, required=["name"], read_only=True)
    def tell(self, data, ctx):
        EVENTS[data["name"]].set()
        return {}

    @action(description="Wait until it has happened", properties=NAME, required=["name"], read_only=True)
    def wait(self, data, ctx):
        wait(data["name"])
        return {}

    @action(description="What became of a call", properties=NAME, required=["name"], read_only=True)
    def fate(self, data, ctx):
        written = Project.objects.filter(name=data["name"]).exists()
        return {"cancelled": CANCELLED.count(data["name"]), "written": written}

    @action(description="What calls leave behind that have ended", properties={}, read_only=True)
    async def left(self, data, ctx):
        for _ in range(PATIENCE_S * 100):
            if not any(left().values()):
                break
            await asyncio.sleep(0.01)
        return left()

    @action(description="Memory of this process in kilobytes", properties={}, read_only=True)
    def memory(self, data, ctx):
        status = Path("/proc/self/status").read_text()
        return {"kilobytes": int(status.split("VmRSS:")[1].split()[0])}


@register
class Plain(Tool):
    """Handlers that are not async."""

    @action(description="Say each step, then wait to be told to go on", properties=STEPS, read_only=True)
    def steps(self, data, ctx):
        for step in range(1, data["steps"] + 1):
            time.sleep(INTERVAL_S)
            ctx.report_progress(step, data["steps"], f"step {step}")
            wait(f"{data['name']} {step}")
        return {"done": data["steps"]}

    @action(description="Say each step", properties=RUN, read_only=True)
    def run(self, data, ctx):
        for step in range(1, data["steps"] + 1):
            time.sleep(INTERVAL_S)
            ctx.report_progress(step, data["steps"], data["name"] + "." * data.get("size", 0))
        EVENTS[f"{data['name']} done"].set()
        return {"done": data["name"]}

    @action(description="Write, and work without an end", properties=NAME)
    def endless(self, data, ctx):
        Project.objects.create(name=data["name"])
        EVENTS[f"{data['name']} begun"].set()
        try:
            for step in range(PATIENCE_S * 100):
                ctx.report_progress(step)
                time.sleep(0.01)
        finally:
            EVENTS[f"{data['name']} ended"].set()

    @action(description="Write, and work without a word", properties=NAME)
    def silent(self, data, ctx):
        Project.objects.create(name=data["name"])
        EVENTS[f"{data['name']} begun"].set()
        try:
            for _ in range(PATIENCE_S * 100):
                if ctx.cancelled:
                    ctx.report_progress(1)
                time.sleep(0.01)
        finally:
            EVENTS[f"{data['name']} ended"].set()


@register
class Awaited(Tool):
    """Handlers that are async."""

    @action(description="Say each step, then wait to be told to go on", properties=STEPS, read_only=True)
    async def steps(self, data, ctx):
        for step in range(1, data["steps"] + 1):
            await asyncio.sleep(INTERVAL_S)
            ctx.report_progress(step, data["steps"], f"step {step}")
            await asyncio.to_thread(wait, f"{data['name']} {step}")
        return {"done": data["steps"]}

    @action(description="Say each step", properties=RUN, read_only=True)
    async def run(self, data, ctx):
        for step in range(1, data["steps"] + 1):
            await asyncio.sleep(INTERVAL_S)
            ctx.report_progress(step, data["steps"], data["name"] + "." * data.get("size", 0))
        EVENTS[f"{data['name']} done"].set()
        return {"done": data["name"]}

    @action(description="Write, and work without an end", properties=NAME)
    async def endless(self, data, ctx):
        await Project.objects.acreate(name=data["name"])
        ctx.report_progress(1)
        EVENTS[f"{data['name']} begun"].set()
        try:
            await asyncio.sleep(PATIENCE_S)
        finally:
            EVENTS[f"{data['name']} ended"].set()

    @action(description="Write, and work without a word", properties=NAME)
    async def silent(self, data, ctx):
        await Project.objects.acreate(name=data["name"])
        EVENTS[f"{data['name']} begun"].set()
        try:
            await asyncio.sleep(PATIENCE_S)
        finally:
            EVENTS[f"{data['name']} ended"].set()
