"""From a function and its type hints to its Registration, or to everything that is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps

from django_mcp.authoring.declare import MARK
from django_mcp.authoring.icon import wires
from django_mcp.authoring.reading import (
    SHAPES,
    Reading,
    additions,
    callback_offences,
    marked,
    overrides,
    snake_case,
    value_problem,
)
from django_mcp.authoring.tool import Callbacks
from django_mcp.encoding.normalise import normalise
from django_mcp.registry import names, options
from django_mcp.registry.built import Built, origin
from django_mcp.registry.registration import ActionEntry, Registration
from django_mcp.registry.strays import astray
from django_mcp.schema import bound, headers, publish, strict
from django_mcp.schema.closure import Closure
from django_mcp.schema.formats import Formats
from django_mcp.schema.keywords import subschemas
from django_mcp.schema.offence import Offence
from django_mcp.schema.values import ValueGate
from django_mcp.schema.vocabulary import OPTION_KEYS
from django_mcp.typed.errors import Underivable
from django_mcp.typed.signature import Parameter, Signature, caller, signature_of
from django_mcp.typed.tool import EXECUTE, TEXT_KEYS, TOOL_MARK, Function, Toolset

if TYPE_CHECKING:
    from django_mcp.typed.derive import Input, Output

_KNOWN: Final = (*TEXT_KEYS, *OPTION_KEYS)
#: The options a client learns of, as what (MCP `ToolAnnotations`).
_HINTS: Final = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


@dataclass(frozen=True, slots=True)
class Derived:
    """What the type hints of an action's handler come to, besides what they make of its schema."""

    published: dict[str, Any]
    formats: Formats
    convert: Callable[[dict[str, Any]], dict[str, Any]]


def derive_actions(reading: Reading, formats: Formats) -> dict[str, Derived]:
    """Fill in the properties of actions that declare none from their handlers' type hints."""
    hinted = [
        name
        for name, handler in reading.handlers.items()
        if type(reading.actions[name]) is dict
        and "properties" not in reading.actions[name]
        and _is_hinted(handler)
    ]
    derived = {}
    for name in hinted:
        try:
            derived[name] = _derive_action(reading, name, formats)
        except Underivable as error:
            message = f"Action {name}: {error.problem}."
            reading.refuse(rule=error.rule, message=message, fix=error.fix, callback="actions", action=name)
            # So that what else is wrong with the action is told, and not what follows from this.
            reading.actions[name] = {**reading.actions[name], "properties": {}}
            del reading.handlers[name]
    return derived


def _derive_action(reading: Reading, name: str, formats: Formats) -> Derived:
    signature = signature_of(reading.handlers[name])
    taken = _input(signature.parameters)
    enforced = normalise(taken.properties)
    for problem in _default_problems(taken, formats):
        reading.offences.append(
            Offence("typed-default", f"Action {name}: {problem}", _DEFAULT, "actions", name, True)
        )
    reading.handlers[name] = caller(reading.handlers[name], signature.contexts)
    reading.actions[name] = {"required": taken.required, **reading.actions[name], "properties": enforced}
    tolerant = _tolerant(formats, {"properties": enforced})
    return Derived(taken.properties, tolerant, taken.convert)


def _is_hinted(handler: Callable[..., Any]) -> bool:
    """Whether a handler says what it takes; one that takes `data` and `ctx` lacks its properties."""
    parameters = inspect.signature(handler).parameters
    if list(parameters) == ["data", "ctx"]:
        return False
    return all(one.annotation is not inspect.Parameter.empty for one in parameters.values())


def _input(parameters: Sequence[Parameter], *, flat: bool = False) -> Input:
    # Imported for the first hints: a site that writes schemas has no use for pydantic.
    from django_mcp.typed.derive import Input

    return Input(parameters, flat=flat)


def _output(returns: Any, owner: Callbacks) -> Output:
    from django_mcp.typed.derive import Output

    return Output(returns, additions(owner))


def refuse_given(given: Any) -> Built:
    """What `@tool` stands on or was given, and is no function."""
    offence = Offence(
        rule="typed-function",
        message=f"@tool takes a function that is written with def, not {bound.render(repr(given))}.",
        fix='Write @tool or @tool(name="..."), above a function; options are given by name.',
        callback="register",
    )
    return Built(given, bound.render(given), None, (offence,), None)


def build_function(function: Callable[..., Any], formats: Formats) -> Built:
    """A tool that is a function of a module."""
    name = f"{_app_label(function)}__{function.__name__}"
    stated = getattr(function, TOOL_MARK)
    return _Declaration(function, Function(), function, name, stated, "register", formats).built()


def _app_label(function: Callable[..., Any]) -> str:
    config = apps.get_containing_app_config(function.__module__)
    return function.__module__.partition(".")[0] if config is None else config.label


def build_toolset(declared: type[Toolset], formats: Formats) -> Iterator[Built]:
    """The tools of a Toolset, sorted by method."""
    toolset = declared()
    group = declared.name or snake_case(declared.__name__)
    shared = {key: getattr(declared, key) for key in _KNOWN if key != "name"}
    shared = {key: value for key, value in shared.items() if value is not getattr(Toolset, key)}
    methods = marked(declared, TOOL_MARK)
    offences = [*callback_offences(toolset), *_exposure_offences(declared, methods)]
    offences += astray(declared, MARK, "@action", "Mark it with @tool, or derive from Tool.")
    if declared.entrypoint and callable(getattr(declared, EXECUTE, None)):
        methods.setdefault(EXECUTE, None)
    if offences:
        yield Built(declared, group, None, tuple(offences), None)
    for method in sorted(methods):
        stated = {**shared, **getattr(methods[method], TOOL_MARK, {})}
        function = getattr(toolset, method)
        yield _Declaration(declared, toolset, function, f"{group}__{method}", stated, method, formats).built()


def _exposure_offences(declared: type[Toolset], methods: dict[str, Any]) -> Iterator[Offence]:
    if not methods and not (declared.entrypoint and hasattr(declared, EXECUTE)):
        yield Offence(
            rule="toolset-empty",
            message="The Toolset has no tools.",
            fix="Mark methods with @tool, or define execute.",
            callback="tools",
        )
    if EXECUTE in methods and not declared.entrypoint:
        yield Offence(
            rule="toolset-entrypoint",
            message="execute is marked with @tool, and entrypoint = False says that it is no tool.",
            fix="Remove one of the two.",
            callback=EXECUTE,
        )


class _Declaration:
    """One typed tool as declared."""

    def __init__(
        self,
        declared: Any,
        owner: Callbacks,
        function: Callable[..., Any],
        name: str,
        stated: dict[str, Any],
        callback: str,
        formats: Formats,
    ) -> None:
        self._declared = declared
        self._owner = owner
        self._function = function
        self._callback = callback
        self._formats = formats
        self._name = stated.get("name", name)
        self._stated = stated
        self._texts = {key: stated.get(key) for key in TEXT_KEYS}
        self._texts["description"] = stated.get("description") or inspect.getdoc(function)
        self._texts["tags"] = stated.get("tags", ())
        self._options = {key: value for key, value in stated.items() if key in OPTION_KEYS}

    def built(self) -> Built:
        offences = list(self._option_offences())
        registration = None
        try:
            signature = signature_of(self._function)
            taken = _input(signature.parameters, flat=self._is_flat)
            returned = _output(signature.returns, self._owner)
        except Underivable as error:
            offences.append(self._offence(error.rule, f"{error.problem}.", error.fix))
        else:
            formats = _tolerant(self._formats, taken.enforced, returned.enforced)
            offences += self._schema_offences(taken, returned, formats)
            offences += self._warnings(signature, taken)
            if not any(not offence.warning for offence in offences):
                registration = self._registration(signature, taken, returned, formats)
        return Built(self._declared, str(self._name), registration, tuple(offences), origin(self._function))

    @property
    def _is_flat(self) -> bool:
        return isinstance(self._owner, Toolset) and self._callback == EXECUTE

    def _offence(self, rule: str, problem: str, fix: str, *, warning: bool = False) -> Offence:
        return Offence(rule, problem, fix, self._callback, None, warning)

    def _option_offences(self) -> Iterable[Offence]:
        problem = names.problem(self._name)
        if problem is not None:
            yield self._offence("tool-name", *problem)
        for key in ("title", "description", "tags", "icons"):
            if not SHAPES[key].fits(self._texts[key]):
                expected = SHAPES[key].expected
                yield self._offence(
                    "callback-shape",
                    f"{key} must be {expected}; it is {bound.render(self._texts[key])}.",
                    "Write a docstring." if key == "description" else f"Make {key} {expected}.",
                )
            elif problem := value_problem(key, self._texts[key]):
                yield self._offence("callback-value", *problem)
        for offence in (
            *options.permission_offences(self._options.get("permission"), None),
            *options.offences(self._stated, _KNOWN, None),
        ):
            yield self._offence(offence.rule, offence.message, offence.fix)
        yield from options.timeout_offences(self._options, self._function, self._callback, None)

    def _schema_offences(self, taken: Input, returned: Output, formats: Formats) -> Iterable[Offence]:
        for schema, what in ((taken.enforced, "the arguments"), (returned.enforced, "the return type")):
            for offence in strict.schema_offences(schema, formats, callback=what):
                yield self._offence(offence.rule, offence.message, offence.fix)
        for offence in headers.annotation_offences(taken.enforced):
            yield self._offence(offence.rule, offence.message, offence.fix)

    def _warnings(self, signature: Signature, taken: Input) -> Iterable[Offence]:
        for problem in _default_problems(taken, self._formats):
            yield self._offence("typed-default", problem, _DEFAULT, warning=True)
        for name in signature.unhinted:
            yield self._offence(
                "typed-unhinted",
                f"the parameter {name} has no type hint, so it is an argument that takes anything.",
                "Write its type; Context for the context, Any for what may be anything.",
                warning=True,
            )

    def _registration(
        self, signature: Signature, taken: Input, returned: Output, formats: Formats
    ) -> Registration:
        title, permission = self._texts["title"], self._options.get("permission")
        closure = Closure(taken.enforced)
        handler = caller(self._function, signature.contexts)
        is_async = inspect.iscoroutinefunction(handler)
        entry = ActionEntry(
            name=self._function.__name__,
            description=self._texts["description"],
            required=(),
            groups=(),
            defaults={},
            closure=closure,
            gate=ValueGate(taken.enforced, formats),
            explanation=publish.explanation(taken.published, str(self._name)),
            rendered={},
            related=(),
            handler=handler,
            is_async=is_async,
            permission=None,
            options=self._options,
            convert=taken.convert,
        )
        return Registration(
            name=str(self._name),
            tool=self._owner,
            sender=self._declared,
            description=self._texts["description"],
            title=title,
            annotations=self._annotations() or None,
            icons=wires(self._texts["icons"]),
            tags=frozenset(self._texts["tags"] or ()),
            permission=permission,
            options=self._options,
            actions={},
            input_schema=taken.published,
            output_schema=returned.published,
            output_gate=ValueGate(returned.enforced, formats),
            header_rows=headers.rows(taken.enforced),
            run=handler,
            is_async=is_async,
            guarded=permission is not None,
            has_context=overrides(self._owner, "action_context"),
            typed=entry,
            output=returned,
        )

    def _annotations(self) -> dict[str, Any]:
        """The hints that are stated, and the title beside them for clients that look for it there."""
        stated = {
            hint: self._options[key] for key, hint in _HINTS.items() if self._options.get(key) is not None
        }
        title = self._texts["title"]
        return stated if title is None else {"title": title, **stated}


_DEFAULT: Final = (
    "Give it a default that callers could send, or a hint that admits it, such as int | None = None."
)


def _default_problems(taken: Input, formats: Formats) -> Iterator[str]:
    for path in taken.refused_defaults(_tolerant(formats, taken.enforced)):
        yield f"the default at {path} is not what its type hint takes; a caller that sends it is refused."


def _tolerant(formats: Formats, *schemas: dict[str, Any]) -> Formats:
    """With the formats that only pydantic's own types know, which those types judge."""
    found = {
        one["format"]
        for schema in schemas
        for _, one in subschemas(schema)
        if isinstance(one, dict) and isinstance(one.get("format"), str)
    }
    return formats.annotating(found - formats.names)
