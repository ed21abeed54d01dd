from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django_mcp.authoring.tool import Callbacks, Tool
from django_mcp.encoding import codec
from django_mcp.encoding.normalise import normalise
from django_mcp.schema.closure import Closure
from django_mcp.schema.headers import HeaderRow
from django_mcp.schema.values import ValueGate

if TYPE_CHECKING:
    from django_mcp.policy.chain import Chain
    from django_mcp.typed.derive import Output


@dataclass(frozen=True, slots=True)
class ActionEntry:
    """One action, ready to be gated and run."""

    name: str
    description: Any
    required: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    defaults: dict[str, Any]
    closure: Closure
    gate: ValueGate
    #: What every refusal of its data ends with: what it takes, and where to read more.
    explanation: dict[str, Any]
    rendered: dict[str, Any]
    related: tuple[str, ...]
    handler: Callable[[dict[str, Any], Any], Any]
    is_async: bool
    permission: Any
    options: Mapping[str, Any]
    #: Makes what the handler gets of the data that passed; raises Unconvertible. None: it gets the data.
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    #: What its calls go through; None: nothing.
    chain: Chain | None = None
    #: The explanation as JSON, where it is the same in every language.
    _explained: bytes | None = field(init=False)

    def __post_init__(self) -> None:
        plain = normalise(self.explanation)
        explained = codec.encode(plain) if plain is self.explanation else None
        object.__setattr__(self, "_explained", explained)

    def explained(self) -> bytes:
        """The explanation as JSON, in the language of the moment."""
        return self._explained or codec.encode(normalise(self.explanation))


@dataclass(frozen=True, slots=True)
class Registration:
    """One tool, ready to be listed, gated and run.

    `run` is the handler of a hand-written tool; `typed` is what a typed tool does, an action without a name.
    """

    name: str
    tool: Callbacks
    #: Who sends the signals of its calls: the tool's class or function.
    sender: Any
    description: Any
    title: Any
    annotations: dict[str, Any] | None
    icons: tuple[dict[str, Any], ...]
    tags: frozenset[str]
    permission: Any
    options: Mapping[str, Any]
    actions: Mapping[str, ActionEntry]
    input_schema: dict[str, Any] | None
    output_schema: dict[str, Any] | None
    output_gate: ValueGate | None
    header_rows: tuple[HeaderRow, ...]
    run: Callable[[dict[str, Any], Any], Any] | None
    is_async: bool
    #: Whether any permission decides who sees the tool or one of its actions.
    guarded: bool
    #: Whether the tool states facts of the moment of its own.
    has_context: bool
    typed: ActionEntry | None = None
    #: Turns what a typed tool's handler returns into JSON.
    output: Output | None = None
    #: What the calls of a hand-written tool go through; None: nothing.
    chain: Chain | None = None
    #: Whether the tool is called by action.
    dispatches: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dispatches", isinstance(self.tool, Tool))

    def awaits(self, action: object) -> bool:
        """Whether a call of this action, or of the tool without actions, is awaited on an event loop."""
        entry = self.entry(action)
        return self.is_async if entry is None else entry.is_async

    def entry(self, action: object) -> ActionEntry | None:
        """What a call of this action runs; of a typed tool, whatever it is called with."""
        return self.actions.get(action) if isinstance(action, str) and self.dispatches else self.typed
