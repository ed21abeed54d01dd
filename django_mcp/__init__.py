"""A Django site as a Model Context Protocol server: tools that are strict, self-explaining and observable."""

from __future__ import annotations

from django_mcp.auth.contract import AuthenticationFailed
from django_mcp.authoring.context import Context
from django_mcp.authoring.declare import action, register
from django_mcp.authoring.elicitation import Answer
from django_mcp.authoring.errors import ConfigurationError, ToolError
from django_mcp.authoring.hint import Hint
from django_mcp.authoring.icon import Icon
from django_mcp.authoring.progress import report_progress
from django_mcp.authoring.reply import Reply
from django_mcp.authoring.tool import BaseTool, Tool
from django_mcp.policy.axes import Axis
from django_mcp.policy.options import Breaker, Cache, Concurrency, Degradation, Policy, Retry, Timeout
from django_mcp.server import get_server
from django_mcp.typed.tool import Toolset, tool

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AuthenticationFailed",
    "Axis",
    "BaseTool",
    "Breaker",
    "Cache",
    "Concurrency",
    "ConfigurationError",
    "Context",
    "Degradation",
    "Hint",
    "Icon",
    "Policy",
    "Reply",
    "Retry",
    "Timeout",
    "Tool",
    "ToolError",
    "Toolset",
    "action",
    "get_server",
    "register",
    "report_progress",
    "tool",
]
