from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django_mcp import signals
from django_mcp.authoring.declare import builtin
from django_mcp.authoring.errors import ToolError
from django_mcp.authoring.tool import BaseTool
from django_mcp.dispatch import answer, gates
from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise
from django_mcp.schema import bound, publish

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.registry.catalog import View
    from django_mcp.registry.registration import ActionEntry, Registration

_ARGUMENTS = {"tool": "string", "action": "string"}


@builtin
class Help(BaseTool):
    """Explains this server's tools. `help {}` lists them all with their actions; `help {tool: "NAME"}` shows
    one tool with what each action takes; `help {tool: "NAME", action: "ACTION"}` shows one action.
    """

    title = "Help"
    annotations = {  # noqa: RUF012 (read once, never changed)
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    input_schema = {  # noqa: RUF012 (read once, never changed)
        "type": "object",
        "properties": {
            "tool": {"type": "string", "description": "Name of the tool to explain."},
            "action": {"type": "string", "description": "Name of the action to explain; needs tool."},
        },
        "additionalProperties": False,
    }
    options = {"read_only": True}  # noqa: RUF012 (read once, never changed)

    def run(self, arguments: dict[str, Any], ctx: Context) -> Any:
        """Answer at the level the arguments ask for; a wrong target is refused with the right ones named."""
        refused, answered = self._resolve(arguments, ctx)
        signals.send(
            signals.help_called,
            type(self),
            server=ctx.server,
            request_id=ctx.request_id,
            tool=arguments.get("tool"),
            action=arguments.get("action"),
            level=_level(arguments),
            is_error=refused is not None,
        )
        if refused is not None:
            raise ToolError(codec.text(normalise(refused)), kind="dispatch")
        return answered

    def handle_error(self, reason: Any) -> str:
        """A refusal is already the JSON text to answer with."""
        return str(reason)

    def _resolve(self, arguments: dict[str, Any], ctx: Context) -> tuple[gates.Body | None, Any]:
        view: View = ctx.view
        refused = gates.check_arguments(arguments, _ARGUMENTS, "help", None)
        if refused is not None:
            return refused, None
        tool, action = arguments.get("tool"), arguments.get("action")
        if tool is None:
            return (None, _index(view)) if action is None else (_missing_tool(view), None)
        registration = view.get(tool)
        if registration is None:
            return _unknown_tool(view, tool), None
        actions = view.actions(registration)
        if action is None:
            return None, _tool(registration, actions, view)
        entry = actions.get(action)
        if entry is None:
            return gates.unknown_action(registration, actions, action), None
        return None, _action(registration, entry, actions, ctx)


def _level(arguments: Mapping[str, Any]) -> str:
    if "action" in arguments:
        return "action"
    return "tool" if "tool" in arguments else "index"


def _index(view: View) -> dict[str, Any]:
    return {
        "tools": [
            {
                "tool": registration.name,
                "description": view.description(registration),
                "actions": publish.summaries(
                    {name: entry.rendered for name, entry in view.actions(registration).items()}
                ),
            }
            for registration in view.registrations
        ]
    }


def _tool(registration: Registration, actions: Mapping[str, ActionEntry], view: View) -> dict[str, Any]:
    described = {"tool": registration.name, "description": view.description(registration)}
    if registration.typed:
        schemas = {
            "input_schema": registration.input_schema,
            "output_schema": view.output_schema(registration),
        }
        return {**described, **schemas}
    shown = {**described, "actions": {name: _rendered(entry, actions) for name, entry in actions.items()}}
    return shown if registration.dispatches else {**shown, "input_schema": registration.input_schema}


def _action(
    registration: Registration, entry: ActionEntry, actions: Mapping[str, ActionEntry], ctx: Context
) -> dict[str, Any]:
    described = {"tool": registration.name, "action": entry.name, **_rendered(entry, actions)}
    context = answer.action_context(registration, entry.name, ctx)
    return described if context is None else {**described, "context": context}


def _rendered(entry: ActionEntry, actions: Mapping[str, ActionEntry]) -> dict[str, Any]:
    """An action as declared, without related actions this caller does not see."""
    if all(name in actions for name in entry.related):
        return entry.rendered
    return {**entry.rendered, "related": [name for name in entry.related if name in actions]}


def _missing_tool(view: View) -> gates.Body:
    valid = _valid_tools(view)
    return {
        "error": "missing_tool",
        "message": f"help explains an action of a tool: name the tool too, one of {', '.join(valid)}.",
        "valid_tools": valid,
        "help": publish.pointer(),
    }


def _unknown_tool(view: View, sent: str) -> gates.Body:
    valid = _valid_tools(view)
    suggestions = publish.suggestions([sent], valid)
    return {
        "error": "unknown_tool",
        "message": f"There is no tool {bound.echo(sent)!r}; the tools are {', '.join(valid)}.",
        "valid_tools": valid,
        **({"did_you_mean": suggestions} if suggestions else {}),
        "help": publish.pointer(),
    }


def _valid_tools(view: View) -> list[str]:
    return sorted(registration.name for registration in view.registrations)
