from __future__ import annotations

from django.db import models
from django.utils import timezone


class Project(models.Model):
    name = models.CharField(max_length=80, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class TaskQuerySet(models.QuerySet["Task"]):
    def overdue(self) -> TaskQuerySet:
        """Open tasks whose due day has passed."""
        return self.filter(status=Task.Status.OPEN, due__lt=timezone.localdate())


class Task(models.Model):
    class Status(models.TextChoices):
        OPEN = "open", "Open"
        DONE = "done", "Done"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tasks")
    title = models.CharField(max_length=200)
    status = models.CharField(max_length=4, choices=Status.choices, default=Status.OPEN)
    due = models.DateField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TaskQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "title"], name="unique_title_in_project")]

    def __str__(self) -> str:
        return self.title

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN

    def complete(self) -> None:
        """Mark the task as done now and save it."""
        self.status = self.Status.DONE
        self.completed_at = timezone.now()
        self.save(update_fields=["status", "completed_at"])
