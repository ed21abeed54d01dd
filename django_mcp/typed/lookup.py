"""Rows of Django models as arguments: the caller sends the primary key, the handler gets the row."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Annotated, Any, Final

from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from pydantic import Field, GetCoreSchemaHandler
from pydantic.errors import PydanticUserError
from pydantic_core import core_schema

from django_mcp.authoring.errors import ToolError
from django_mcp.schema import bound

#: What a caller sends for a primary key, by the class of its field.
_TYPES: Final = (
    (models.IntegerField, int),
    (models.UUIDField, uuid.UUID),
    (models.CharField, str),
    (models.TextField, str),
)


class Lookup:
    """Metadata that makes a row of a model an argument; `ByPk` is the one there is.

    `Annotated[Task, ByPk]` looks among all rows of the default manager, `Annotated[Task, ByPk(queryset)]`
    among those of a queryset, with what it selects beside them. A key that no row has is a ToolError. The row
    is read before the call's transaction begins: lock it in the handler where that matters.
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: models.QuerySet[Any] | None = None) -> None:
        self._rows = rows

    def __call__(self, rows: models.QuerySet[Any]) -> Lookup:
        """The same among these rows."""
        return Lookup(rows)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        if not (isinstance(source, type) and issubclass(source, models.Model)):
            raise PydanticUserError(f"ByPk belongs to a Django model, not to {source!r}", code=None)
        rows = source._default_manager.all() if self._rows is None else self._rows
        # Told by its type: to show a queryset is to ask the database.
        found = getattr(rows, "model", type(rows))
        if not issubclass(found, source):
            raise PydanticUserError(
                f"ByPk of {source._meta.label} takes a queryset of it, not one of {found.__name__}", code=None
            )

        def row(pk: Any) -> Any:
            # PostgreSQL has no text with NUL, and does not even look for one.
            if not (isinstance(pk, str) and "\0" in pk):
                with suppress(ObjectDoesNotExist):
                    return rows.get(pk=pk)
            raise ToolError(f"there is no {source._meta.verbose_name} {bound.render(pk)}")

        return core_schema.no_info_after_validator_function(row, handler.generate_schema(_key_of(source)))


def _key_of(model: type[models.Model]) -> Any:
    field: Any = model._meta.pk
    while field.remote_field is not None:
        field = field.target_field
    for kind, hint in _TYPES:
        if isinstance(field, kind):
            # Only text has a length.
            longest = field.max_length if hint is str else None
            return Annotated[
                hint, Field(description=f"Primary key of a {model._meta.model_name}.", max_length=longest)
            ]
    kind_of_key = type(field).__name__
    raise PydanticUserError(
        f"the primary key of {model._meta.label} is a {kind_of_key}, which no argument can be", code=None
    )


ByPk: Final = Lookup()
