"""What a tool answers where its author says nothing."""

from __future__ import annotations

from django_mcp import BaseTool, Context, Tool


def test_a_tool_suggests_nothing_and_states_nothing_of_its_own_accord():
    for tool in (BaseTool(), Tool()):
        assert tool.hints("do", {}) == []
        assert tool.action_context("do", Context()) is None
        assert tool.handle_error("no such task") == "Operation failed: no such task"
