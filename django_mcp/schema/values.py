"""The value gate: a prebuilt validator, and its errors as problems that quote nothing that was sent."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import jsonschema_rs

from django_mcp.schema import bound, paths
from django_mcp.schema.closure import PATTERN_OPTIONS
from django_mcp.schema.explain import briefly, explaining
from django_mcp.schema.formats import Formats
from django_mcp.schema.problems import told


class SchemaError(ValueError):
    """A schema that no validator can be built from; the message says what the build stopped on."""


Problems = list[tuple[str, list[str]]]

#: How many values may be refused by alternatives whose errors are gathered: each could be told in every one.
_GATHERED: Final = 5_000
#: Told where the schema that explains refuses nothing, so that only what it leaves out can have refused.
_UNEVALUATED: Final = "has keys or items that the schema does not allow"


class _Explainer(NamedTuple):
    schema: Any
    validator: jsonschema_rs.Draft202012Validator


class ValueGate:
    """Judges values by a JSON Schema 2020-12, formats asserted, nothing fetched, patterns bounded."""

    __slots__ = ("_explainers", "_formats", "_schema", "_validator", "is_valid")

    def __init__(self, schema: Any, formats: Formats) -> None:
        self._schema = schema
        self._formats = formats
        try:
            self._validator = _built(schema, formats)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaError(bound.render(getattr(error, "message", None) or str(error))) from None
        #: Whether the schema accepts a value. The validator's own method: nothing stands between.
        self.is_valid: Callable[[Any], bool] = self._validator.is_valid
        self._explainers: dict[Callable[[Any], Any], _Explainer] = {}

    def problems(self, value: Any, most: int = bound.LISTED) -> tuple[Problems, int]:
        """The first paths at which the schema refuses a value, in order, and how many there are in all."""
        schema, found = self._found(value)
        errors: dict[str, list[Any]] = {}
        for error in found:
            errors.setdefault(paths.of(error.instance_path), []).append(error)
        if not errors and not self.is_valid(value):
            return [(paths.ROOT, [_UNEVALUATED])], 1
        listed = sorted(errors) if len(errors) <= most else heapq.nsmallest(most, errors)
        return [(path, told(errors[path], schema, self._formats)) for path in listed], len(errors)

    def _found(self, value: Any) -> tuple[Any, list[Any]]:
        """The errors of a value, and the schema that they speak of."""
        if _size(value) > _GATHERED:
            schema, validator = self._explainers.get(briefly) or self._explain(briefly)
            if schema is not self._schema:
                found = list(validator.iter_errors(value))
                if _refused(found, value) > _GATHERED:
                    return schema, found
        schema, validator = self._explainers.get(explaining) or self._explain(explaining)
        return schema, list(validator.iter_errors(value))

    def _explain(self, written: Callable[[Any], Any]) -> _Explainer:
        """Built by the first refusal: most schemas explain themselves, and many never refuse anything."""
        schema = written(self._schema)
        validator = self._validator if schema is self._schema else _built(schema, self._formats)
        self._explainers[written] = _Explainer(schema, validator)
        return self._explainers[written]


def _size(value: Any) -> int:
    """How many values a value consists of; counted no further than matters."""
    count, pending = 0, [value]
    while pending and count <= _GATHERED:
        one = pending.pop()
        count += 1
        if isinstance(one, dict):
            pending += one.values()
        elif isinstance(one, list):
            pending += one
    return count


def _refused(errors: list[Any], value: Any) -> int:
    """How many values those consist of that alternatives refuse; counted no further than matters."""
    count = 0
    for error in errors:
        # So an alternative is refused that is judged and not looked into.
        if error.kind.name == "falseSchema":
            refused = value
            for step in error.instance_path:
                refused = refused[step]
            count += _size(refused)
            if count > _GATHERED:
                break
    return count


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
