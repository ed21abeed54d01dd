"""The schema by which refusals are explained: it tells less of what is nested.

The errors of every alternative are gathered to tell one refusal. Where an alternative leads back to the
alternatives it is one of, as in a tree of conditions, their number doubles with every level of the data. It
does so, too, where several keywords of a recursive schema judge the same value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from django_mcp.schema import pointers
from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, inside, subschemas
from django_mcp.schema.tangles import REFERENCES, tangled

ALTERNATIVES: Final = ("anyOf", "oneOf")
#: Marks a schema that judges what its `if` says. A `not` would judge it too, and each of its errors holds it.
JUDGED: Final = "x-judged"

#: Where the copy stands of whose alternatives no errors are gathered, and the whole schema.
BRIEF: Final = "x-brief"
WHOLE: Final = "x-whole"
#: Keywords of which the validator gathers no errors anyway.
_SILENT: Final = frozenset({"contains", "if", "not"})
#: Keywords that depend on what their neighbours have judged: what is brief does not tell, so copies lack
#: them.
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
#: Keywords that name the schema they stand in, as only one of several copies can be named.
_NAMES: Final = frozenset({"$id", *pointers.ANCHORS})
#: The validator still knows `dependencies`, though the dialect does not.
_MAPS: Final = MAP_KEYWORDS | {"dependencies"}


def explaining(schema: Any) -> Any:
    """The schema itself, unless its alternatives lead back to themselves or its recursion is tangled.

    Else one that accepts the same, and what `unevaluatedProperties` and `unevaluatedItems` alone refuse.
    """
    cut = tangled(schema)
    if not cut and not any(_leads_back(one, schema) for one in _composed(schema)):
        return schema
    copies = _Copies(schema, pointers.places(schema), cut)
    return {**copies.full(schema), BRIEF: copies.brief(schema), WHOLE: copies.whole(schema)}


def briefly(schema: Any) -> Any:
    """What refusals of a great deal of data are explained by: alternatives are judged, never gathered.

    The schema itself where it has none.
    """
    if not _composed(schema):
        return schema
    copies = _Copies(schema, pointers.places(schema), tangled(schema))
    return {"$ref": f"#/{BRIEF}", BRIEF: copies.brief(schema), WHOLE: copies.whole(schema)}


def _composed(schema: Any) -> list[dict[str, Any]]:
    schemas = [one for _, one in subschemas(schema) if isinstance(one, dict)]
    return [one for one in schemas if any(keyword in one for keyword in ALTERNATIVES)]


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


class _Copies(NamedTuple):
    """Copies of a schema that differ in how much of it is judged and nothing more."""

    root: Any
    #: The pointer to each schema, by its id.
    places: dict[int, str]
    #: The ids of schemas whose references are judged and nothing more.
    cut: set[int]

    def full(self, schema: Any) -> Any:
        """A copy that is brief inside of its alternatives."""
        return self._copy(schema, "")

    def brief(self, schema: Any) -> Any:
        return self._copy(schema, f"/{BRIEF}")

    def whole(self, schema: Any) -> Any:
        """A copy that is the schema itself, in its place."""
        if not isinstance(schema, dict):
            return schema
        written = {keyword: _within(keyword, value, self.whole) for keyword, value in schema.items()}
        written |= {keyword: f"#/{WHOLE}{self._place(schema, keyword)}" for keyword in _references(schema)}
        return {keyword: value for keyword, value in written.items() if keyword not in _NAMES}

    def _copy(self, schema: Any, base: str) -> Any:
        if not isinstance(schema, dict):
            return schema
        whole, copy = self.whole(schema), self.brief if base else self.full
        written: dict[str, Any] = {}
        judged: list[dict[str, Any]] = []
        for keyword, value in schema.items():
            if keyword in _UNEVALUATED or keyword in _NAMES:
                continue
            if keyword in _SILENT:
                written[keyword] = whole[keyword]
            elif self._is_judged(schema, keyword, base):
                judged.append({"if": {keyword: whole[keyword]}, "else": False, JUDGED: True})
            elif keyword in REFERENCES:
                written[keyword] = f"#{base}{self._place(schema, keyword)}"
            else:
                written[keyword] = _within(keyword, value, self.brief if keyword in ALTERNATIVES else copy)
        if judged:
            written["allOf"] = [*written.get("allOf", ()), *judged]
        return written

    def _is_judged(self, schema: dict[str, Any], keyword: str, base: str) -> bool:
        if keyword in ALTERNATIVES:
            return bool(base)
        if keyword not in REFERENCES:
            return False
        # What a copy has elsewhere or not at all is referred to as it stands in the whole.
        moved = _SILENT | _UNEVALUATED | (set(ALTERNATIVES) if base else set())
        return id(schema) in self.cut or not moved.isdisjoint(self._place(schema, keyword).split("/"))

    def _place(self, schema: dict[str, Any], keyword: str) -> str:
        return self.places[id(pointers.resolve(schema[keyword], self.root))]


def _references(schema: dict[str, Any]) -> list[str]:
    return [keyword for keyword in REFERENCES if keyword in schema]


def _within(keyword: str, value: Any, copy: Any) -> Any:
    if keyword in LIST_KEYWORDS:
        return [copy(inner) for inner in value]
    if keyword in _MAPS:
        return {name: copy(inner) for name, inner in value.items()}
    return copy(value) if keyword in SCHEMA_KEYWORDS else value
