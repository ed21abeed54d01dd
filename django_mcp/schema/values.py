"""The value gate: a prebuilt validator, and its errors as problems that quote nothing that was sent."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import jsonschema_rs

from django_mcp.schema import bound, paths
from django_mcp.schema.closure import PATTERN_OPTIONS
from django_mcp.schema.explain import explaining
from django_mcp.schema.formats import Formats
from django_mcp.schema.problems import told


class SchemaError(ValueError):
    """A schema that no validator can be built from; the message says what the build stopped on."""


Problems = list[tuple[str, list[str]]]

#: Told where the schema that explains refuses nothing, so that only what it leaves out can have refused.
_UNEVALUATED = "has keys or items that the schema does not allow"


class ValueGate:
    """Judges values by a JSON Schema 2020-12, formats asserted, nothing fetched, patterns bounded."""

    __slots__ = ("_explaining", "_formats", "_schema", "_validator", "is_valid")

    def __init__(self, schema: Any, formats: Formats) -> None:
        self._schema = schema
        self._formats = formats
        try:
            self._validator = _built(schema, formats)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaError(bound.render(getattr(error, "message", None) or str(error))) from None
        #: Whether the schema accepts a value. The validator's own method: nothing stands between.
        self.is_valid: Callable[[Any], bool] = self._validator.is_valid
        self._explaining: tuple[Any, jsonschema_rs.Draft202012Validator] | None = None

    def problems(self, value: Any, most: int = bound.LISTED) -> tuple[Problems, int]:
        """The first paths at which the schema refuses a value, in order, and how many there are in all."""
        schema, validator = self._explaining or self._explain()
        errors: dict[str, list[Any]] = {}
        for error in validator.iter_errors(value):
            errors.setdefault(paths.of(error.instance_path), []).append(error)
        if not errors and not self.is_valid(value):
            return [(paths.ROOT, [_UNEVALUATED])], 1
        listed = sorted(errors) if len(errors) <= most else heapq.nsmallest(most, errors)
        return [(path, told(errors[path], schema, self._formats)) for path in listed], len(errors)

    def _explain(self) -> tuple[Any, jsonschema_rs.Draft202012Validator]:
        """Built by the first refusal: most schemas explain themselves, and many never refuse anything."""
        schema = explaining(self._schema)
        validator = self._validator if schema is self._schema else _built(schema, self._formats)
        self._explaining = schema, validator
        return self._explaining


def _built(schema: Any, formats: Formats) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        schema,
        formats=dict(formats.checks),
        validate_formats=True,
        ignore_unknown_formats=False,
        offline=True,
        mask="(hidden)",
        pattern_options=PATTERN_OPTIONS,
    )
