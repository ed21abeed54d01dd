"""JSON Schemas of type hints, as callers are held to them and as answers keep them."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.db.models import Choices
from django.utils.functional import lazy
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema

from django_mcp.encoding.normalise import EncodingError, normalise
from django_mcp.schema import pointers
from django_mcp.schema.formats import Formats
from django_mcp.schema.inline import inlined
from django_mcp.schema.keywords import subschemas
from django_mcp.schema.values import SchemaError, ValueGate

#: JSON Schema's `time` demands an offset, which the time of a day does not have.
_TIME: Final = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?$"
_DECIMAL: Final = r"^[+-]?[0-9]+(\.[0-9]+)?$"
#: What is returned may have an exponent: that is how Python writes a zero of many places.
_RETURNED_DECIMAL: Final = r"^[+-]?[0-9]+(\.[0-9]+)?([Ee][+-]?[0-9]+)?$"

#: The values that JSON and Python have in common; any other arrives as something else.
_SCALARS: Final = (str, int, float, type(None))

#: How pydantic writes a secret, and an empty one.
_MASKS: Final = ("**********", "")

_DEFS: Final = "#/$defs/"


class Schemas(GenerateJsonSchema):
    """pydantic's schemas, where JSON keeps what Python means; without titles that repeat a name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def emit_warning(self, kind: Any, detail: str) -> None:
        """A default that JSON does not have is left out: the argument is optional all the same."""

    def encode_default(self, dft: Any) -> Any:
        written = super().encode_default(dft)
        try:
            return normalise(written)
        except EncodingError as error:
            raise PydanticSerializationError(str(error)) from None

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        returned = self.mode == "serialization"
        return {"type": "string", "pattern": _RETURNED_DECIMAL if returned else _DECIMAL}

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return {"type": "string", "pattern": _TIME}

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        # What is returned may be negative, which the format does not know.
        return {"type": "string"} if self.mode == "serialization" else super().timedelta_schema(schema)

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        # What a site without time zones returns has no offset, which the format demands.
        if self.mode == "serialization" and not settings.USE_TZ:
            return {"type": "string"}
        return super().datetime_schema(schema)

    def field_is_present(self, field: Any) -> bool:
        """A dataclass sets a field that its constructor does not take."""
        if self.mode == "validation" and field.get("init") is False:
            return False
        return super().field_is_present(field)

    def generator_schema(self, schema: core_schema.GeneratorSchema) -> JsonSchemaValue:
        raise PydanticUserError(
            "an Iterable is judged only while it is read; a list is judged before", code=None
        )

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        written = super().tagged_union_schema(schema)
        # A word of OpenAPI's, whose pointers nobody follows when references are written in place.
        written.pop("discriminator", None)
        return written

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        for member in schema["members"] if self.mode == "validation" else ():
            if not isinstance(member.value, _SCALARS):
                raise PydanticUserError(
                    f"{member} has the value {member.value!r}, which no caller can send", code=None
                )
        written = super().enum_schema(schema)
        if issubclass(schema["cls"], Choices):
            written["description"] = _labels(schema["cls"])
        return written


def _labels(choices: type[Choices]) -> Any:
    def written() -> str:
        return "; ".join(f"{one.value}: {one.label}" for one in choices)

    return lazy(written, str)()


def hidden(schema: dict[str, Any]) -> list[str]:
    """Take what no caller fills in out of an input schema: fields marked read-only or deprecated.

    Returns the names of those that are required all the same, so that no call could succeed.
    """
    lacking: list[str] = []
    for _, one in list(subschemas(schema)):
        if isinstance(one, dict) and "properties" in one:
            gone = [name for name, field in one["properties"].items() if _is_hidden(field)]
            lacking += [name for name in gone if name in one.get("required", ())]
            for name in gone:
                del one["properties"][name]
    return lacking


def _is_hidden(field: Any) -> bool:
    return isinstance(field, dict) and (field.get("readOnly") is True or field.get("deprecated") is True)


def refused_defaults(schema: dict[str, Any], formats: Formats) -> Iterator[str]:
    """The paths of defaults that their own schemas refuse; a secret's is masked, and nobody sends that."""
    for path, one in subschemas(schema):
        if isinstance(one, dict) and "default" in one and one.get("writeOnly") is not True:
            # A schema that no gate can be built from is told by the rules of schemas.
            with contextlib.suppress(SchemaError):
                if not ValueGate({**one, "$defs": schema.get("$defs", {})}, formats).is_valid(one["default"]):
                    yield path


def untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles that are but the names of its classes."""
    schema.pop("title", None)
    for name, one in schema.get("$defs", {}).items():
        if one.get("title") == name:
            del one["title"]
    return schema


def masked(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a result, which no secret in clear keeps: one in a plain dict is masked by nobody."""
    for _, one in subschemas(schema):
        if isinstance(one, dict) and one.get("writeOnly") is True and one.get("format") == "password":
            for bound in ("minLength", "maxLength"):
                one.pop(bound, None)
            one["enum"] = list(_MASKS)
    return schema


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Refuse the keys that an object of fields does not have, wherever it stands; extra keys are stated."""
    for _, one in subschemas(schema):
        if isinstance(one, dict) and "properties" in one:
            one.setdefault("additionalProperties", False)
    return schema


def rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with an object at its root: a recursive model's is a reference to itself."""
    target = pointers.resolve(schema.get("$ref"), schema)
    return {**target, "$defs": schema["$defs"]} if isinstance(target, dict) else schema


def trimmed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with those `$defs` only that something in use refers to."""
    written = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    defs, used = schema.get("$defs", {}), set[str]()
    pending = [written]
    while pending:
        found = set(_referred(pending.pop())) - used
        used |= found
        pending += [defs[name] for name in found]
    return {**written, "$defs": {name: defs[name] for name in defs if name in used}} if used else written


def _referred(schema: Any) -> Iterator[str]:
    for _, one in subschemas(schema):
        if isinstance(one, dict) and str(one.get("$ref", "")).startswith(_DEFS):
            yield one["$ref"].removeprefix(_DEFS)


def carried(name: str, schema: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """A property that is complete in itself, for a root that has room for properties alone.

    What it refers to is written in place; only what is recursive stays in `$defs` of its own.
    """
    written: dict[str, Any] = copy.deepcopy(trimmed(inlined({**schema, "$defs": defs})))
    for _, one in subschemas(written):
        if isinstance(one, dict) and str(one.get("$ref", "")).startswith(_DEFS):
            one["$ref"] = f"#/properties/{name}/$defs/{one['$ref'].removeprefix(_DEFS)}"
    return written
