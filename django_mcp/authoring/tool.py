from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from django_mcp.authoring.context import Context
    from django_mcp.authoring.hint import Hint


class Callbacks:
    """What shapes the answers of a tool, whatever its form. Each has a default."""

    def hints(self, action: str | None, hint_context: Any) -> Iterable[Hint]:
        """Follow-up calls to suggest next to an answer that carries a hint context."""
        return []

    def before_submit(self, action: str | None, data: dict[str, Any], ctx: Context) -> None:
        """What is settled before the work of a `background` call is handed to a worker.

        Runs while the caller waits: it may refuse (`ToolError`), ask (`ctx.elicit`; the handler finds the
        answer under the same key) or insist on a capability (`ctx.require`). `data` are the arguments of a
        tool without actions.
        """

    def handle_error(self, reason: Any) -> str:
        """The text the caller gets for a `ToolError`."""
        return f"Operation failed: {reason}"

    def action_context(self, action: str | None, ctx: Context) -> Mapping[str, Any] | None:
        """Facts of the moment that go out with an answer and with help under `context`; None adds nothing."""
        return None


class BaseTool(Callbacks):
    """A hand-written tool: one `input_schema` and one `run(arguments, ctx)`.

    Every class-level member below is a plain attribute or a method without arguments. Each is read once, when
    the server is built, without a request, a language or the database. One instance serves all threads, so
    nothing about a call is kept on `self`.
    """

    #: Tool name (1 to 128 of `A-Z a-z 0-9 _ . -`); the class name in snake_case when left out.
    name: Any = None
    #: Text for the model; the class docstring when left out. May be lazily translated.
    description: Any = None
    #: Display name (MCP `Tool.title`).
    title: Any = None
    #: MCP `ToolAnnotations`: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
    annotations: Any = None
    #: JSON Schema every successful answer is proven against.
    output_schema: Any = None
    #: MCP `Icon` mappings: `src` (https or data URI), `mimeType`, `sizes`, `theme`.
    icons: Any = None
    #: Free words that a server's `TAGS` select by; never published.
    tags: Any = frozenset()
    #: `"app_label.codename"` or `callable(ctx) -> bool`: who may see and call the tool.
    permission: Any = None
    #: JSON Schema of the arguments; its root is an object.
    input_schema: Any = None
    #: What stays on the server: `read_only`, `destructive`, `idempotent`, `open_world`, `background`,
    #: `policy`, `timeout`.
    options: ClassVar[Any] = {}

    def run(self, arguments: dict[str, Any], ctx: Context) -> Any:
        """Answer one call. May be `async def`. Returns what a handler returns or raises `ToolError`."""


class Tool(BaseTool):
    """A tool of several actions: the caller sends `{"action": "<name>", "data": {...}}`.

    Actions are methods marked with `@action`, or an `actions` mapping (name to schema) with one `run_action`.
    """

    #: The plain form: action name to action schema.
    actions: Any = None

    def run_action(self, action: str, data: dict[str, Any], ctx: Context) -> Any:
        """Answer one call of an action declared in `actions`. May be `async def`."""
