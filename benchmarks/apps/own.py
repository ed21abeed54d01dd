"""This project. Each set of tools is a server of its own, at `/one` and the like; by the asynchronous view at
`/async/one` and the like.
"""

from __future__ import annotations

from typing import Any

from benchmarks.apps.site import configure

configure(
    "benchmarks.apps.own",
    "django_mcp",
    DJANGO_MCP={
        "SERVERS": {
            "one": {"INCLUDE": ["tasks"]},
            "fifty": {"INCLUDE": ["tasks", "tasks_*"]},
            "grouped": {"INCLUDE": ["group_*"]},
            "calls": {"INCLUDE": ["bulk", "typed"]},
        }
    },
)

from django.core.asgi import get_asgi_application  # noqa: E402 (after the app registry)
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402
from pydantic import BaseModel  # noqa: E402

from django_mcp import Tool, action, register, tool  # noqa: E402
from django_mcp.views import AsyncMCPView, MCPView  # noqa: E402

TASK = {"name": {"type": "string"}, "priority": {"type": "integer"}}
ITEM = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}, "price": {"type": "number"}},
    "required": ["sku", "qty", "price"],
    "additionalProperties": False,
}
BULK = {"items": {"type": "array", "items": ITEM}}


def _tasks(name: str, actions: list[str]) -> None:
    described = {
        one: {
            "description": "Create a task with a name and a priority.",
            "properties": TASK,
            "required": ["name", "priority"],
        }
        for one in actions
    }

    def run_action(self: Any, action: str, data: dict[str, Any], ctx: Any) -> Any:
        return {"message": f"created {data['name']}", "id": 1}

    members = {"name": name, "description": "Tasks.", "actions": described, "run_action": run_action}
    register(type("Tasks", (Tool,), members))


_tasks("tasks", ["create"])
for number in range(1, 50):
    _tasks(f"tasks_{number:02}", ["create"])
for number in range(5):
    _tasks(f"group_{number}", [f"create_{letter}" for letter in "abcdefghij"])


@register
class Bulk(Tool):
    """Many items at once."""

    @action(description="Add items.", properties=BULK, required=["items"])
    def add(self, data: dict[str, Any], ctx: Any) -> Any:
        return {"message": f"imported {len(data['items'])}"}


class Created(BaseModel):
    message: str
    id: int


@tool(name="typed")
def typed(name: str, priority: int) -> Created:
    """Create a task with a name and a priority."""
    return Created(message=f"created {name}", id=1)


urlpatterns: list[Any] = []
for shape in ("one", "fifty", "grouped", "calls"):
    urlpatterns.append(path(shape, MCPView.as_view(server=shape)))
    urlpatterns.append(path(f"async/{shape}", AsyncMCPView.as_view(server=shape)))

wsgi = get_wsgi_application()
asgi = get_asgi_application()
