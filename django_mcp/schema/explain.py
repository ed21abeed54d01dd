"""The schema by which refusals are explained: it tells less of nested alternatives.

The errors of every alternative are gathered to tell one refusal. Where an alternative leads back to the
alternatives it is one of, as in a tree of conditions, their number doubles with every level of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django_mcp.schema import pointers
from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, inside, subschemas

ALTERNATIVES: Final = ("anyOf", "oneOf")

#: Where the copy stands whose alternatives are judged without their errors being gathered.
_BRIEF: Final = "x-brief"
#: Keywords of which the validator gathers no errors anyway.
_JUDGED: Final = frozenset({"contains", "if", "not"})
#: Keywords that depend on what their neighbours have judged. A `not` does not tell, so the copy lacks them.
_UNEVALUATED: Final = ("unevaluatedItems", "unevaluatedProperties")


def explaining(schema: Any) -> Any:
    """The schema itself, unless its alternatives lead back to themselves.

    Else one that accepts the same, and what `unevaluatedProperties` and `unevaluatedItems` alone refuse.
    """
    schemas = [one for _, one in subschemas(schema) if isinstance(one, dict)]
    composed = [one for one in schemas if any(keyword in one for keyword in ALTERNATIVES)]
    if not any(_leads_back(one, schema) for one in composed):
        return schema
    return {**_rewritten(schema, brief=False), _BRIEF: _rewritten(schema, brief=True)}


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
    for keyword in ("$ref", "$dynamicRef"):
        yield pointers.resolve(schema.get(keyword), root)


def _rewritten(schema: Any, *, brief: bool) -> Any:
    """A copy whose alternatives, or those inside of its alternatives, are brief."""
    if not isinstance(schema, dict):
        return schema
    written = {
        keyword: _rewritten_value(keyword, value, brief)
        for keyword, value in schema.items()
        if keyword not in _UNEVALUATED
    }
    if brief:
        judged = [{"not": {"not": {key: written.pop(key)}}} for key in ALTERNATIVES if key in written]
        if judged:
            written["allOf"] = [*written.get("allOf", ()), *judged]
    return written


def _rewritten_value(keyword: str, value: Any, brief: bool) -> Any:
    if keyword in _JUDGED:
        return value
    if keyword == "$ref" and brief and (value == "#" or value.startswith("#/")):
        return f"#/{_BRIEF}{value[1:]}"
    if keyword in LIST_KEYWORDS:
        # A brief composition is judged and nothing more, so what is in it stays as it is.
        return value if brief and keyword in ALTERNATIVES else _list(value, brief or keyword in ALTERNATIVES)
    if keyword in MAP_KEYWORDS:
        return {name: _rewritten(inner, brief=brief) for name, inner in value.items()}
    return _rewritten(value, brief=brief) if keyword in SCHEMA_KEYWORDS else value


def _list(schemas: list[Any], brief: bool) -> list[Any]:
    return [_rewritten(schema, brief=brief) for schema in schemas]
