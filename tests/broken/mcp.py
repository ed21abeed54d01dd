from __future__ import annotations

import datetime

from django_mcp import Hint, Tool, action, register


@register
class Orders(Tool):
    """Orders of the shop."""

    tags = "public"
    output_schema = {"type": "object", "properties": {"id": {"type": "integr"}}}

    @action(
        description="Create an order\nfor a customer",
        properties={
            "name": {"type": "string", "format": "person"},
            "lines": {"type": "array", "items": {"properties": [1, 2]}},
            "day": {"const": datetime.date(2027, 1, 31)},
            "country": {"$ref": "https://example.com/country.json"},
        },
        required=["name", "nmae"],
        defaults={"name": "unknown"},
        example={"name": "Ada"},
    )
    def create(self, data, ctx):
        return {"id": 1}

    @action(
        description="Find an order",
        properties={"id": {"type": "integer"}, "name": {"type": "string"}},
        required_one_of=[["id"], ["id", "name"]],
        defaults={"name": 3},
        permission="view_order",
        read_only="yes",
    )
    def find(self, data):
        return {"id": 1}

    async def hints(self, action, hint_context):
        return [Hint(tool="orders", action="find", description="Find it")]


@register
class Help(Tool):
    """Our own help."""

    actions = {"index": {"description": "Show all", "properties": {}}}


@register
def orders(data, ctx):
    return {}
