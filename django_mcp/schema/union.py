"""One schema for what several tools answer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final
from urllib.parse import unquote

from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS

#: What a call answers whose work has only begun.
RECEIPT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"task_id": {"type": "string"}},
    "required": ["task_id"],
}


def results(members: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of `{"result": ...}`, where the result is what one of these tools answers.

    Equal schemas count once. Of several it is `oneOf` where no value can satisfy two of them, else `anyOf`: a
    client that checks would refuse every answer that fits two. With several, each one's `$defs` and anchors
    carry the tool's name.
    """
    schemas = {name: schema for name, schema in members.items() if schema not in _before(members, name)}
    defs: dict[str, Any] = {}
    if {} in schemas.values():
        result: dict[str, Any] = {}
    elif len(schemas) == 1:
        [schema] = schemas.values()
        result = _moved(schema, "#/properties/result", "", defs)
    else:
        keyword = "oneOf" if _are_disjoint(list(schemas.values())) else "anyOf"
        result = {
            keyword: [
                _moved(schema, f"#/properties/result/{keyword}/{place}", f"{name}.", defs)
                for place, (name, schema) in enumerate(schemas.items())
            ]
        }
    whole = {"type": "object", "properties": {"result": result}, "required": ["result"]}
    return {**whole, "$defs": defs} if defs else whole


def or_receipt(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool of which some actions answer and others only begin."""
    defs: dict[str, Any] = {}
    whole = {"type": "object", "anyOf": [_moved(schema, "#/anyOf/0", "", defs), RECEIPT]}
    return {**whole, "$defs": defs} if defs else whole


def _before(members: Mapping[str, Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    names = list(members)
    return [members[other] for other in names[: names.index(name)]]


def _moved(schema: Mapping[str, Any], base: str, prefix: str, defs: dict[str, Any]) -> dict[str, Any]:
    """A schema to stand at `base`, its references following it; its `$defs` go to the root's."""
    # A schema with an $id would be a document of its own, without the root's $defs.
    own = {key: value for key, value in schema.items() if key not in ("$defs", "$id", "$schema")}
    for name, definition in schema.get("$defs", {}).items():
        defs[f"{prefix}{name}"] = _redirected(definition, base, prefix)
    moved: dict[str, Any] = _redirected(own, base, prefix)
    return moved


def _redirected(schema: Any, base: str, prefix: str) -> Any:
    if not isinstance(schema, dict):
        return schema
    written: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in MAP_KEYWORDS:
            written[keyword] = {name: _redirected(inner, base, prefix) for name, inner in value.items()}
        elif keyword in LIST_KEYWORDS:
            written[keyword] = [_redirected(inner, base, prefix) for inner in value]
        elif keyword in SCHEMA_KEYWORDS:
            written[keyword] = _redirected(value, base, prefix)
        elif keyword in ("$anchor", "$dynamicAnchor"):
            written[keyword] = _anchor(value, prefix)
        else:
            is_reference = keyword in ("$ref", "$dynamicRef")
            written[keyword] = _target(value, base, prefix) if is_reference else value
    return written


def _target(reference: str, base: str, prefix: str) -> str:
    steps = reference.split("/", 2)
    # A pointer may be percent-encoded.
    if len(steps) == 3 and unquote(steps[0] + steps[1]) == "#$defs":
        return f"#/$defs/{prefix}{steps[2]}"
    if reference == "#" or reference.startswith("#/"):
        return base + reference[1:]
    return f"#{_anchor(reference[1:], prefix)}"


def _anchor(name: str, prefix: str) -> str:
    """An anchor as it is called beside those of others; a tool's name may begin as no anchor can."""
    return f"_{prefix}{name}" if prefix else name


def _are_disjoint(schemas: list[Mapping[str, Any]]) -> bool:
    """Whether it is plain from their types that no value satisfies two of them."""
    kinds = [_kinds(schema) for schema in schemas]
    return all(one and other and not one & other for one, other in combinations(kinds, 2))


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types a schema says it is of; empty where it does not say."""
    stated = schema.get("type", [])
    kinds = {stated} if isinstance(stated, str) else set(stated)
    return {"number" if kind == "integer" else kind for kind in kinds}
