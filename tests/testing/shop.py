"""A small server to be tested with."""

from __future__ import annotations

from typing import Any

from django_mcp import BaseTool, Tool, ToolError, action
from tests.asking import AsyncInterview, Interview

__all__ = ["AsyncInterview", "Interview"]


class Orders(Tool):
    """Orders of the shop."""

    @action(
        description="Find an order",
        properties={"number": {"type": "string", "minLength": 1}},
        required=["number"],
        read_only=True,
    )
    def find(self, data: Any, ctx: Any) -> Any:
        if data["number"] == "none":
            raise ToolError("no such order")
        return {"number": data["number"], "for": ctx.user.get_username()}

    @action(description="Find an order", properties={"number": {"type": "string"}})
    async def afind(self, data: Any, ctx: Any) -> Any:
        return {"number": data.get("number"), "version": ctx.version}

    @action(description="For the staff", properties={}, permission=lambda ctx: ctx.user.is_staff)
    def close(self, data: Any, ctx: Any) -> Any:
        return {"closed": True}


class Labels(BaseTool):
    """Content of every kind."""

    input_schema = {"type": "object"}

    def run(self, arguments: Any, ctx: Any) -> Any:
        kinds = {
            "text": ctx.text("not JSON"),
            "json": ctx.json({"a": 1}),
            "image": ctx.image("aW1n", "image/png"),
            "audio": ctx.audio("YXU=", "audio/wav"),
        }
        content = ctx.text("")[:0]
        for kind in arguments["kinds"]:
            content = content + kinds[kind]
        return type(kinds["text"])(content)


class Measured(BaseTool):
    """Structured content."""

    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def run(self, arguments: Any, ctx: Any) -> Any:
        return arguments


class Mirrored(BaseTool):
    """Has its arguments in headers."""

    input_schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "inner": {
                "type": "object",
                "properties": {"deep": {"type": "string", "x-mcp-header": "Deep"}},
            },
        },
    }

    def run(self, arguments: Any, ctx: Any) -> Any:
        return arguments


SHOP = (Orders, Labels, Measured, Mirrored, Interview)
