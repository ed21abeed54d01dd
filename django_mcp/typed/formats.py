"""String types that carry a JSON Schema `format`; the value stays a `str`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email, validate_ipv4_address, validate_ipv6_address
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

#: A validator as Django has them: it raises django.core.exceptions.ValidationError or ValueError.
Validator = Callable[[str], Any]


class Format:
    """Metadata of a string: `Annotated[str, Format("sku", "A stock keeping unit", validate_sku)]`.

    `name` is the `format` keyword, `description` what an argument without one of its own is described with.
    `validator` is called with the string and refuses it by a ValidationError of Django's or a ValueError;
    without one, a format that JSON Schema does not know annotates only.
    """

    __slots__ = ("description", "name", "validator")

    def __init__(self, name: str, description: str | None = None, validator: Validator | None = None) -> None:
        self.name = name
        self.description = description
        self.validator = validator

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        schema = handler(source)
        if self.validator is None:
            return schema
        return core_schema.no_info_after_validator_function(self._validated, schema)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        written = handler(schema)
        written["format"] = self.name
        if self.description is not None:
            written.setdefault("description", self.description)
        return written

    def _validated(self, value: str) -> str:
        assert self.validator is not None
        try:
            self.validator(value)
        except (ValidationError, ValueError):
            # Whatever the validator says may quote the value.
            raise PydanticCustomError("format", "must be a valid {name}", {"name": self.name}) from None
        return value


Date = Annotated[str, Format("date", "A date, as in 2027-01-31.")]
Time = Annotated[str, Format("time", "A time with its offset, as in 13:30:00Z.")]
DateTime = Annotated[str, Format("date-time", "A date and time with offset, as in 2027-01-31T13:30:00Z.")]
Email = Annotated[str, Format("email", "An e-mail address.", validate_email)]
Hostname = Annotated[str, Format("hostname", "A host name (RFC 1123).")]
Ipv4 = Annotated[str, Format("ipv4", "An IPv4 address.", validate_ipv4_address)]
Ipv6 = Annotated[str, Format("ipv6", "An IPv6 address.", validate_ipv6_address)]
Uri = Annotated[str, Format("uri", "An absolute URI.")]
Uuid = Annotated[str, Format("uuid", "A UUID.")]
Regex = Annotated[str, Format("regex", "A regular expression.")]
JsonPointer = Annotated[str, Format("json-pointer", "A JSON Pointer (RFC 6901).")]
