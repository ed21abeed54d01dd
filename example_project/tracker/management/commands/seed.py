from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from example_project.tracker.models import Project, Task

#: Project, title, days until due (None: no due day), and whether it is done.
TASKS: list[tuple[str, str, int | None, bool]] = [
    ("Website", "Choose a host", -30, True),
    ("Website", "Write the imprint", -3, False),
    ("Website", "Draw the logo", 14, False),
    ("Website", "Translate the start page", None, False),
    ("Office move", "Find a mover", -10, True),
    ("Office move", "Cancel the old lease", -1, False),
    ("Office move", "Order desks", 21, False),
]


class Command(BaseCommand):
    help = "Fill the tracker with a few projects and tasks. What is there already stays as it is."

    def handle(self, *args: Any, **options: Any) -> None:
        today = timezone.localdate()
        created = 0
        for name, title, days, done in TASKS:
            project, _ = Project.objects.get_or_create(name=name)
            task, new = Task.objects.get_or_create(
                project=project,
                title=title,
                defaults={"due": None if days is None else today + timedelta(days=days)},
            )
            if new and done:
                task.complete()
            created += new
        self.stdout.write(f"{created} tasks created, {len(TASKS) - created} were there already.")
