"""django-mcpz. Its sets of tools are servers at `/one`, `/fifty` and `/calls`."""

from __future__ import annotations

from benchmarks.apps.site import configure

configure("benchmarks.apps.mcpz")

import msgspec  # noqa: E402 (after the app registry)
from django.core.asgi import get_asgi_application  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpRequest  # noqa: E402
from django.urls import path  # noqa: E402
from django_mcpz.server import MCPServer, public  # noqa: E402


class Task(msgspec.Struct):
    name: str
    priority: int


class Item(msgspec.Struct):
    sku: str
    qty: int
    price: float


class Items(msgspec.Struct):
    items: list[Item]


class Created(msgspec.Struct):
    message: str
    id: int


class Imported(msgspec.Struct):
    message: str


def create(request: HttpRequest, params: Task) -> Created:
    return Created(message=f"created {params.name}", id=1)


def add(request: HttpRequest, params: Items) -> Imported:
    return Imported(message=f"imported {len(params.items)}")


def server(*names: str) -> MCPServer:
    made = MCPServer(name="bench", version="1", auth=public)
    for name in names:
        made.tool(name=name, description="Create a task with a name and a priority.")(create)
    return made


calls = server("typed")
calls.tool(name="bulk", description="Add items.")(add)
urlpatterns = [
    path("one", server("tasks")),
    path("fifty", server("tasks", *(f"tasks_{number:02}" for number in range(1, 50)))),
    path("calls", calls),
]

wsgi = get_wsgi_application()
asgi = get_asgi_application()
