from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from example_project.tracker.models import Project, Task

if TYPE_CHECKING:
    ProjectAdminBase = admin.ModelAdmin[Project]
    TaskAdminBase = admin.ModelAdmin[Task]
else:
    ProjectAdminBase = TaskAdminBase = admin.ModelAdmin


@admin.register(Project)
class ProjectAdmin(ProjectAdminBase):
    search_fields = ["name"]


@admin.register(Task)
class TaskAdmin(TaskAdminBase):
    list_display = ["title", "project", "status", "due"]
    list_filter = ["status", "project"]
    list_select_related = ["project"]
    search_fields = ["title"]
    readonly_fields = ["completed_at"]
