"""The schema by which refusals are explained: it tells less of what is nested.

The errors of every alternative are gathered to tell one refusal. Where an alternative leads back to the
alternatives it is one of, as in a tree of conditions, their number doubles with every level of the data. It
does so, too, where several keywords of a recursive schema judge the same value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django_mcp.schema import pointers
from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, inside, subschemas
from django_mcp.schema.tangles import REFERENCES, tangled

ALTERNATIVES: Final = ("anyOf", "oneOf")

#: Where the copy stands whose alternatives are judged without their errors being gathered.
_BRIEF: Final = "x-brief"
#: Keywords of which the validator gathers no errors anyway.
_JUDGED: Final = frozenset({"contains", "if", "not"})
#: Keywords that depend on what their neighbours have judged. A `not` does not tell, so the copy lacks them.
_UNEVALUATED: Final = ("unevaluatedItems", "unevaluatedProperties")


def explaining(schema: Any) -> Any:
    """The schema itself, unless its alternatives lead back to themselves or its recursion is tangled.

    Else one that accepts the same, and what `unevaluatedProperties` and `unevaluatedItems` alone refuse.
    """
    schemas = [one for _, one in subschemas(schema) if isinstance(one, dict)]
    composed = [one for one in schemas if any(keyword in one for keyword in ALTERNATIVES)]
    cut = tangled(schema)
    if not cut and not any(_leads_back(one, schema) for one in composed):
        return schema
    return {**_Copy(cut, brief=False).of(schema), _BRIEF: _Copy(cut, brief=True).of(schema)}


def _leads_back(composed: dict[str, Any], root: Any) -> bool:
    passed: set[int] = set()
    pending = [inner for keyword in ALTERNATIVES for inner in composed.get(keyword, ())]
    while pending:
        schema = pending.pop()
        if schema is composed:
            return True
        if isinstance(schema, dict) and id(schema) not in passed:
            passed.add(id(schema))
            pending += _next(schema, root)
    return False


def _next(schema: dict[str, Any], root: Any) -> Iterator[Any]:
    yield from (inner for _, inner in inside(schema))
    for keyword in REFERENCES:
        yield pointers.resolve(schema.get(keyword), root)


class _Copy:
    """A copy whose alternatives, or those inside of its alternatives, are brief.

    The references of the schemas in `cut` are judged and nothing more.
    """

    def __init__(self, cut: set[int], *, brief: bool) -> None:
        self._cut = cut
        self._brief = brief
        self._inner = self if brief else _Copy(cut, brief=True)

    def of(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        judged = self._judged(schema)
        left_out = {*_UNEVALUATED, *judged, *(pointers.ANCHORS if self._brief else ())}
        written = {
            keyword: self._value(keyword, value)
            for keyword, value in schema.items()
            if keyword not in left_out
        }
        if judged:
            brief = [{"not": {"not": {keyword: schema[keyword]}}} for keyword in judged]
            written["allOf"] = [*written.get("allOf", ()), *brief]
        return written

    def _judged(self, schema: dict[str, Any]) -> list[str]:
        """The keywords of a schema of which the copy gathers no errors."""
        references: list[str] = [key for key in REFERENCES if key in schema]
        if not self._brief:
            return references if id(schema) in self._cut else []
        if id(schema) not in self._cut:
            # An anchor leads out of the brief copy, which has none: a name stands once in a schema.
            references = [key for key in references if not pointers.is_pointer(schema[key])]
        return [*(key for key in ALTERNATIVES if key in schema), *references]

    def _value(self, keyword: str, value: Any) -> Any:
        if keyword in _JUDGED:
            return value
        if keyword in REFERENCES and self._brief:
            return f"#/{_BRIEF}{value[1:]}"
        if keyword in LIST_KEYWORDS:
            copy = self._inner if keyword in ALTERNATIVES else self
            return [copy.of(inner) for inner in value]
        if keyword in MAP_KEYWORDS:
            return {name: self.of(inner) for name, inner in value.items()}
        return self.of(value) if keyword in SCHEMA_KEYWORDS else value
