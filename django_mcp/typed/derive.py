"""From type hints to what is published, enforced and handed over: arguments and results of functions."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Final, TypeVar

from django.core.exceptions import ValidationError as Refusal
from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaMode
from pydantic_core import PydanticSerializationError, SchemaError

from django_mcp.authoring.context import Content
from django_mcp.authoring.reply import Reply
from django_mcp.encoding.normalise import EncodingError, normalise
from django_mcp.schema import bound
from django_mcp.schema.formats import Formats
from django_mcp.typed import problems, schemas
from django_mcp.typed.errors import Unconvertible, Underivable, absent
from django_mcp.typed.schemas import Schemas
from django_mcp.typed.signature import REQUIRED, Parameter

_T = TypeVar("_T")

#: The key a result that is no object is wrapped in.
RESULT: Final = "result"

# An argument may have any name, also one that a model has a member of, so the fields have names of their own.
# A default that JSON does not have is left out as it is, not turned into null.
_CONFIG: Final = ConfigDict(extra="forbid", protected_namespaces=(), ser_json_inf_nan="constants")


class Input:
    """The arguments of a function.

    `published` may hold lazily translated texts, `enforced` is the same in plain JSON; `secrets` names the
    arguments that hold one. Raises Underivable.
    """

    __slots__ = ("_fields", "_flat", "_model", "enforced", "published", "secrets")

    def __init__(self, parameters: Sequence[Parameter], *, flat: bool = False) -> None:
        self._flat = parameters[0].name if flat and _is_model(parameters) else None
        self._fields = {f"argument_{number}": one.name for number, one in enumerate(parameters)}
        self._model: type[BaseModel] = parameters[0].hint if self._flat is not None else _modelled(parameters)
        written = _schema(self._model, "validation", "The arguments")
        written = schemas.untitled(schemas.rooted(written))
        self._refuse_hidden(written)
        self.published = schemas.closed(schemas.trimmed(written))
        self.published.setdefault("properties", {})
        self.published.setdefault("additionalProperties", False)
        self.enforced = _plain(self.published, "The arguments")
        self.secrets = problems.secrets(self.enforced)

    @staticmethod
    def _refuse_hidden(schema: dict[str, Any]) -> None:
        lacking = schemas.hidden(schema)
        if lacking:
            raise Underivable(
                "typed-hidden",
                f"{', '.join(lacking)} is required, yet read-only or deprecated, so no caller can send it",
                "Give it a default.",
            )

    @property
    def properties(self) -> dict[str, Any]:
        """The published schema of each argument, complete in itself."""
        defs = self.published.get("$defs", {})
        return {name: schemas.carried(name, one, defs) for name, one in self.published["properties"].items()}

    @property
    def required(self) -> list[str]:
        return list(self.published.get("required", ()))

    def refused_defaults(self, formats: Formats) -> list[str]:
        """The paths of defaults that a caller who sent them would be refused for."""
        return list(schemas.refused_defaults(self.enforced, formats))

    def convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments of the function. Raises Unconvertible; other exceptions pass."""
        try:
            # The schema has been strict already; a class that is strict with Python's types would refuse the
            # text that a date is sent as.
            built = self._model.model_validate(arguments, strict=False)
        except ValidationError as error:
            raise Unconvertible(problems.of(error, arguments, self.secrets)) from None
        except Refusal as refusal:
            raise Unconvertible(problems.said(refusal, self._refused(arguments), self.secrets)) from None
        if self._flat is not None:
            return {self._flat: built}
        return {name: getattr(built, field) for field, name in self._fields.items()}

    def _refused(self, arguments: dict[str, Any]) -> list[str]:
        """The argument that a validator of Django's refuses, which pydantic lets pass without saying where.

        None for the fields of a model: its validators may look at several at once.
        """
        validator, blank = self._model.__pydantic_validator__, self._model.model_construct()
        sent = {field: name for field, name in self._fields.items() if name in arguments and not self._flat}
        for field, name in sent.items():
            try:
                validator.validate_assignment(blank, field, arguments[name], strict=False)
            except Refusal:
                return [name]
            except ValidationError:
                continue
        return []


def _is_model(parameters: Sequence[Parameter]) -> bool:
    """Whether there is one parameter, a model of fields."""
    hint = parameters[0].hint if len(parameters) == 1 else None
    return isinstance(hint, type) and issubclass(hint, BaseModel) and not issubclass(hint, RootModel)


def _modelled(parameters: Sequence[Parameter]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        hint, stated = parameter.hint, parameter.default
        if isinstance(stated, FieldInfo):
            hint, stated = Annotated[hint, stated], REQUIRED
        field = Field(alias=parameter.name) if stated is REQUIRED else Field(stated, alias=parameter.name)
        fields[f"argument_{number}"] = (hint, field)

    def build() -> type[BaseModel]:
        model: type[BaseModel] = create_model("Arguments", __config__=_CONFIG, **fields)
        model.model_rebuild()  # so that a name that is missing in a class among the hints is told
        return model

    return _derived(build, "The arguments")


#: What an answer may carry beside its value.
_ADDED: Final = {
    "hints": {"type": "array", "items": {"type": "object"}},
    "context": {"type": "object"},
}


class Output:
    """The result of a function, with the keys that are `added` to it.

    Raises Underivable for a hint that no schema comes out of.
    """

    __slots__ = ("_adapter", "enforced", "published", "wrapped")

    def __init__(self, returns: Any, added: Iterable[str] = ()) -> None:
        hint = _returned(returns)
        self._adapter: TypeAdapter[Any] = _derived(lambda: _adapter(hint), "The return type")
        written = schemas.untitled(_schema(self._adapter, "serialization", "The return type"))
        written = schemas.masked(written)
        #: By the schema, so that it never depends on what happens to be returned.
        self.wrapped = written.get("type") != "object"
        self.published = _wrapped(written) if self.wrapped else written
        for key in added:
            self.published.setdefault("properties", {}).setdefault(key, _ADDED[key])
        self.enforced = _plain(self.published, "The return type")

    def dump(self, value: Any) -> Any:
        """The value as plain JSON, secrets masked. Raises EncodingError for what JSON cannot carry."""
        dumped = self._adapter.dump_python(
            value, mode="json", by_alias=True, fallback=normalise, warnings=False
        )
        return normalise(dumped)


def _adapter(hint: Any) -> TypeAdapter[Any]:
    try:
        # Told as they are, for the encoder to refuse: pydantic would make null of them.
        adapter = TypeAdapter(hint, config=ConfigDict(ser_json_inf_nan="constants"))
    except PydanticUserError as error:
        if error.code != "type-adapter-config-unused":
            raise
        adapter = TypeAdapter(hint)  # a class that has a configuration of its own
    adapter.rebuild()
    return adapter


def _returned(hint: Any) -> Any:
    """What the value of an answer is: content blocks are not described by a schema."""
    if typing.get_origin(hint) is Reply:
        return _returned(typing.get_args(hint)[0])
    return Any if hint in (Reply, Content) else hint


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    defs = schema.pop("$defs", None)
    written = {"type": "object", "properties": {RESULT: schema}, "required": [RESULT]}
    return written if defs is None else {**written, "$defs": defs}


def _schema(source: type[BaseModel] | TypeAdapter[Any], mode: JsonSchemaMode, what: str) -> dict[str, Any]:
    write = source.json_schema if isinstance(source, TypeAdapter) else source.model_json_schema
    return _derived(lambda: write(mode=mode, schema_generator=Schemas), what)


def _plain(published: dict[str, Any], what: str) -> dict[str, Any]:
    try:
        written: dict[str, Any] = normalise(published)
    except EncodingError as error:
        raise Underivable("typed-schema", f"{what}: {error.path} is {error.problem}", error.remedy) from None
    return written


def _derived(build: Callable[[], _T], what: str) -> _T:
    try:
        with warnings.catch_warnings():
            # What pydantic warns of is either told as an offence or of no concern to a caller.
            warnings.simplefilter("ignore")
            return build()
    except PydanticUndefinedAnnotation as error:
        raise absent(error.name) from None
    except (PydanticUserError, PydanticSerializationError, SchemaError, TypeError, ImportError) as error:
        lines = str(getattr(error, "message", error)).splitlines()
        # The first line of a schema error says where it was met, the last one what it is.
        text = lines[-1 if isinstance(error, SchemaError) else 0]
        raise Underivable(
            "typed-schema",
            f"{what}: no schema can be derived: {bound.render(text)}",
            "Use a type that pydantic knows: a plain type, a dataclass, a TypedDict or a pydantic model. A "
            "row of a Django model is taken as Annotated[Model, ByPk]; return the fields that go out.",
        ) from None
