from __future__ import annotations

from typing import Any, Final

from django_mcp.schema import pointers
from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, subschemas

#: Keywords that judge nothing (JSON Schema 2020-12, chapter 9 of the validation vocabulary).
_ANNOTATIONS: Final = frozenset(
    {
        "$comment",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    }
)

#: Keywords that judge by what stands beside them in the same schema.
_TOGETHER: Final = (
    frozenset({"properties", "patternProperties", "additionalProperties"}),
    frozenset({"prefixItems", "items"}),
    frozenset({"contains", "minContains", "maxContains"}),
    frozenset({"if", "then", "else"}),
)
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_REFERENCES: Final = ("$ref", "$dynamicRef")


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every local `$ref` replaced by what it names, and without `$defs` nobody refers to.

    What a `$ref` is annotated with wins over its target's annotations. Where a demand of one would change
    what the other demands, the target stands under `allOf`. A recursive reference stays, with its `$defs`.
    """
    written: dict[str, Any] = _inline(schema, schema, ())
    if not _refers(written):
        for keyword in ("$defs", "definitions"):
            written.pop(keyword, None)
    return written


def _inline(schema: Any, root: dict[str, Any], within: tuple[str, ...]) -> Any:
    if not isinstance(schema, dict):
        return schema
    written: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in MAP_KEYWORDS:
            written[keyword] = {name: _inline(inner, root, within) for name, inner in value.items()}
        elif keyword in LIST_KEYWORDS:
            written[keyword] = [_inline(inner, root, within) for inner in value]
        else:
            written[keyword] = _inline(value, root, within) if keyword in SCHEMA_KEYWORDS else value
    reference = schema.get("$ref")
    target = pointers.resolve(reference, root)
    if isinstance(target, dict) and reference not in within:
        inner = _inline(target, root, (*within, str(reference)))
        if not _refers(inner):
            del written["$ref"]
            return _joined(inner, written)
    return written


def _joined(target: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    demands = beside.keys() - _ANNOTATIONS
    if demands and (target.keys() & _UNEVALUATED or not _agree(target, beside)):
        return {**beside, "allOf": [target, *beside.get("allOf", ())]}
    return {**target, **beside}


def _agree(target: dict[str, Any], beside: dict[str, Any]) -> bool:
    """Whether what two schemas demand is the same in one schema."""
    shared = (target.keys() & beside.keys()) - _ANNOTATIONS
    # By their texts: to Python, true is 1.
    if any(repr(target[keyword]) != repr(beside[keyword]) for keyword in shared):
        return False
    own, other = target.keys() - beside.keys(), beside.keys() - target.keys()
    return not any(
        (own & group and beside.keys() & group) or (other & group and target.keys() & group)
        for group in _TOGETHER
    )


def _refers(schema: dict[str, Any]) -> bool:
    return any(
        isinstance(inner, dict) and any(keyword in inner for keyword in _REFERENCES)
        for _, inner in subschemas(schema)
    )
