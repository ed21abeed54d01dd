"""What a worker of the tasks framework imports by name."""

from __future__ import annotations

from django_mcp import conf
from django_mcp.background import framework, work


@framework.task(conf.get().tasks["BACKEND"])
def perform(task_id: str) -> None:
    """Run the work of a task."""
    work.perform(task_id)
