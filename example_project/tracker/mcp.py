"""The tracker's tools for language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, Any

from django.core.paginator import EmptyPage, Paginator
from django.db.models import Count
from django.utils import timezone
from pydantic import Field

from django_mcp import Context, Hint, Reply, Tool, ToolError, action, register, tool
from example_project.tracker.models import Project, Task

ID = {"type": "integer", "minimum": 1, "description": "Id of the task."}
PROJECT = {"type": "string", "minLength": 1, "maxLength": 80, "description": "Name of a project that exists."}
TITLE = {"type": "string", "maxLength": 200, "pattern": r"\S", "description": "Unique within its project."}
DUE = {
    "type": ["string", "null"],
    "format": "date",
    "pattern": "^[1-9]",
    "description": "Last day to finish it, YYYY-MM-DD; null or left out for none.",
}


@register
class Tasks(Tool):
    """Tasks of the team's projects: write them down, find them, finish them."""

    title = "Tasks"
    annotations = {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": False,
    }

    @action(
        description="Create a task in a project",
        properties={"project": PROJECT, "title": TITLE, "due": DUE},
        required=["project", "title"],
        notes="A title that the project already has is refused. For more than one task use import_many.",
        related=["get", "import_many"],
        examples=[
            {"project": "Website", "title": "Write the release notes", "due": "2027-01-31"},
            {"project": "Website", "title": "Tidy up the footer"},
        ],
    )
    def create(self, data: dict[str, Any], ctx: Context) -> Reply[dict[str, Any]]:
        task = create_task(data)
        return Reply({"task": shown(task)}, hint_context={"id": task.pk, "project": task.project.name})

    @action(
        description="List tasks, oldest first, page by page",
        properties={
            "project": PROJECT,
            "status": {"type": "string", "enum": Task.Status.values},
            "overdue": {
                "type": "boolean",
                "description": "true: only open tasks past their due day; false: only the others.",
            },
            "page": {"type": "integer", "minimum": 1},
            "page_size": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        defaults={"page": 1, "page_size": 20},
        notes="Filters narrow each other down. Without any, every task is listed.",
        related=["get", "complete"],
        examples=[{"overdue": True}, {"project": "Website", "status": "open", "page_size": 10}],
        read_only=True,
    )
    def list(self, data: dict[str, Any], ctx: Context) -> Reply[dict[str, Any]]:
        tasks = Task.objects.select_related("project")
        if "project" in data:
            tasks = tasks.filter(project=find_project(data["project"]))
        if "status" in data:
            tasks = tasks.filter(status=data["status"])
        if "overdue" in data:
            overdue = Task.objects.overdue()
            tasks = tasks.filter(pk__in=overdue) if data["overdue"] else tasks.exclude(pk__in=overdue)
        pages = Paginator(tasks, data["page_size"])
        try:
            page = pages.page(data["page"])
        except EmptyPage:
            raise ToolError(f"there is no page {data['page']}; the last is {pages.num_pages}") from None
        listed = [shown(task) for task in page]
        return Reply(
            {"tasks": listed, "total": pages.count, "page": page.number, "pages": pages.num_pages},
            hint_context={
                "listed": listed,
                "next_page": {**data, "page": page.number + 1} if page.has_next() else None,
            },
        )

    @action(
        description="Show one task",
        properties={"id": ID},
        required=["id"],
        related=["list", "complete", "delete"],
        examples=[{"id": 1}],
        read_only=True,
    )
    def get(self, data: dict[str, Any], ctx: Context) -> Reply[dict[str, Any]]:
        task = find_task(data["id"])
        return Reply({"task": shown(task)}, hint_context={"id": task.pk, "open": task.is_open})

    @action(
        description="Mark a task as done",
        properties={"id": ID},
        required=["id"],
        notes="Completing a task that is done already changes nothing.",
        related=["list", "get"],
        examples=[{"id": 1}],
        idempotent=True,
    )
    def complete(self, data: dict[str, Any], ctx: Context) -> Reply[dict[str, Any]]:
        task = find_task(data["id"])
        if task.is_open:
            task.complete()
        return Reply({"task": shown(task)}, hint_context={})

    @action(
        description="Delete a task for good",
        properties={"id": ID},
        required=["id"],
        notes="Nothing brings it back. To keep a record of finished work use complete.",
        related=["complete"],
        examples=[{"id": 1}],
        destructive=True,
    )
    def delete(self, data: dict[str, Any], ctx: Context) -> Reply[dict[str, Any]]:
        task = find_task(data["id"])
        deleted = shown(task)
        task.delete()
        return Reply({"deleted": deleted}, hint_context={"project": task.project.name})

    @action(
        description="Create up to 100 tasks at once, all or none",
        properties={
            "items": {
                "type": "array",
                "minItems": 1,
                "maxItems": 100,
                "items": {
                    "type": "object",
                    "properties": {"project": PROJECT, "title": TITLE, "due": DUE},
                    "required": ["project", "title"],
                },
            },
        },
        required=["items"],
        notes="One item that cannot be created refuses them all.",
        related=["create", "list"],
        examples=[
            {
                "items": [
                    {"project": "Website", "title": "Choose a font", "due": "2027-02-01"},
                    {"project": "Office move", "title": "Label the boxes"},
                ],
            },
        ],
    )
    def import_many(self, data: dict[str, Any], ctx: Context) -> Reply[dict[str, Any]]:
        created = []
        for index, item in enumerate(data["items"]):
            try:
                created.append(create_task(item).pk)
            except ToolError as error:
                raise ToolError(f"items[{index}]: {error.reason}; nothing was created") from error
        return Reply(
            {"created": len(created), "ids": created}, hint_context={"project": data["items"][-1]["project"]}
        )

    @action(
        description="Report how every project is doing",
        properties={"project": PROJECT},
        notes="Goes through all tasks, so it is done in the background. Without a project, all are reported.",
        related=["list"],
        examples=[{}, {"project": "Website"}],
        read_only=True,
        background=True,
    )
    def report(self, data: dict[str, Any], ctx: Context) -> dict[str, Any]:
        projects = [find_project(data["project"])] if "project" in data else list(Project.objects.all())
        rows = []
        for number, project in enumerate(projects, start=1):
            ctx.report_progress(number, len(projects), f"Counting {project}")
            tasks = project.tasks.all()
            done = tasks.filter(status=Task.Status.DONE).count()
            rows.append({"project": project.name, "tasks": len(tasks), "done": done})
        return {"projects": rows}

    def hints(self, action: str | None, hint_context: Mapping[str, Any]) -> Iterable[Hint]:
        """What a caller usually does next."""
        match action:
            case _ if "unknown" in hint_context:
                yield hint("list", "List the tasks there are")
            case "create":
                yield hint("get", "View the created task", id=hint_context["id"])
                yield hint("list", "List the project's tasks", project=hint_context["project"])
            case "list":
                if hint_context["listed"]:
                    yield hint("get", "View the first of them", id=hint_context["listed"][0]["id"])
                if hint_context["next_page"]:
                    yield hint("list", "List the next page", **hint_context["next_page"])
            case "get" if hint_context["open"]:
                yield hint("complete", "Mark it as done", id=hint_context["id"])
            case "complete":
                yield hint("list", "List what is overdue", overdue=True)
            case "delete" | "import_many":
                yield hint("list", "List the project's tasks", project=hint_context["project"])

    def action_context(self, action: str | None, ctx: Context) -> Mapping[str, Any]:
        """How many tasks are overdue, next to every answer."""
        return {"overdue_tasks": Task.objects.overdue().count()}


@tool(title="Workload", read_only=True, tags={"reports"})
def workload(
    until: Annotated[date | None, Field(description="Only tasks due up to this day.")] = None,
) -> dict[str, int]:
    """How many open tasks each project has."""
    tasks = Task.objects.filter(status=Task.Status.OPEN)
    if until is not None:
        tasks = tasks.filter(due__lte=until)
    return dict(tasks.values_list("project__name").annotate(Count("pk")).order_by("project__name"))


def hint(action: str, description: str, /, **data: Any) -> Hint:
    return Hint(tool="tasks", action=action, description=description, example={"data": data})


def find_project(name: str) -> Project:
    try:
        return Project.objects.get(name=name)
    except Project.DoesNotExist:
        names = ", ".join(Project.objects.values_list("name", flat=True)[:20])
        raise ToolError(f"there is no project {name!r}, only {names}") from None


def find_task(pk: int) -> Task:
    try:
        return Task.objects.select_related("project").get(pk=pk)
    except Task.DoesNotExist:
        raise ToolError(f"there is no task {pk}", hint_context={"unknown": pk}) from None


def create_task(data: Mapping[str, Any]) -> Task:
    due = data.get("due")
    project = find_project(data["project"])
    task, created = Task.objects.get_or_create(
        project=project, title=data["title"], defaults={"due": due and date.fromisoformat(due)}
    )
    if not created:
        raise ToolError(f"{project} already has the task {task.title!r}: its id is {task.pk}")
    return task


def shown(task: Task) -> dict[str, Any]:
    """The fields of a task that a caller sees."""
    return {
        "id": task.pk,
        "project": task.project.name,
        "title": task.title,
        "status": task.status,
        "due": task.due,
        "overdue": task.is_open and task.due is not None and task.due < timezone.localdate(),
        "completed_at": task.completed_at,
    }
