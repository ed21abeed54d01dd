"""Work that leaves a trace of every time it is begun."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from django_mcp import Tool, action, register, tool
from example_project.tracker.models import Project, Task


@register
class Work(Tool):
    """Work to be disturbed."""

    @action(description="Leave a trace", properties={}, background=True)
    def trace(self, data, ctx):
        begin(ctx.task)
        return {"done": ctx.task}

    @action(description="Go on until stopped", properties={}, background=True)
    def endless(self, data, ctx):
        begin(ctx.task)
        for step in range(6000):
            ctx.report_progress(step, message="working")
            time.sleep(0.1)

    @action(description="Wait until stopped", properties={}, background=True)
    async def waiting(self, data, ctx):
        await asyncio.to_thread(begin, ctx.task)
        ctx.report_progress(1, message="working")
        await asyncio.Event().wait()

    @action(description="Leave a trace of a name", properties={"name": {"type": "string"}}, destructive=True)
    def wipe(self, data, ctx):
        begin(data["name"])
        return {"done": data["name"]}

    @action(
        description="Leave a trace of a name, later",
        properties={"name": {"type": "string"}},
        destructive=True,
        background=True,
    )
    def wipe_later(self, data, ctx):
        begin(data["name"])
        return {"done": data["name"]}

    @action(description="Tell how often each task was begun", properties={}, read_only=True)
    def begun(self, data, ctx):
        begun = {}
        for task in Task.objects.filter(project__name="work"):
            name = task.title.partition(" ")[0]
            begun[name] = begun.get(name, 0) + 1
        return begun


@dataclass
class Node:
    """A part of a whole that has parts."""

    name: str
    parts: list[Node]


@tool(background=True)
def word() -> str:
    """One word."""
    return "word"


@tool(background=True)
def name() -> str:
    """Another one."""
    return "name"


@tool(background=True)
def number() -> int:
    """A number."""
    return 7


@tool(background=True)
def tree() -> Node:
    """Parts of parts."""
    return Node("root", [Node("leaf", [])])


@tool(background=True)
def forest() -> list[Node]:
    """Several of them."""
    return [tree()]


def begin(name):
    """Note that the work begins; a second time makes a second note."""
    project, _ = Project.objects.get_or_create(name="work")
    Task.objects.create(project=project, title=f"{name} {time.time_ns()}")
