"""What a JSON Schema must be before a validator is built of it.

The validator's own build lets several things pass that would fail later or mean something else: unknown
formats where no value is judged by them, tuples, other dialects. So a walk comes first; it fetches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django_mcp.schema import bound, composition, paths, pointers
from django_mcp.schema.formats import Formats
from django_mcp.schema.keywords import LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, beside
from django_mcp.schema.offence import Offence
from django_mcp.schema.values import SchemaError, ValueGate

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
#: Levels of nesting a declared schema may have.
MAX_DEPTH: Final = 100


class Fault(NamedTuple):
    rule: str
    path: str
    problem: str
    fix: str


@dataclass(frozen=True, slots=True)
class _Place:
    """A value of the declaration: whether it stands where a schema stands, and the containers around it."""

    value: Any
    path: str
    is_schema: bool
    around: tuple[int, ...]


def schema_offences(
    schema: Any, formats: Formats, *, callback: str, action: str | None = None
) -> list[Offence]:
    """Everything that keeps a schema from being served: what the walk finds, else what the build stops on."""
    found = list(faults(schema, formats)) or list(_build_faults(schema, formats))
    if not found and action is not None:
        # Only an action's data is closed where the author left it open, so only there can this happen.
        found = [Fault("schema-composition", *conflict) for conflict in composition.conflicts(schema)]
    owner = callback if action is None else f"Action {action}"
    return [
        Offence(
            rule=fault.rule,
            message=f"{owner}: {_where(fault.path)}{fault.problem}.",
            fix=fault.fix,
            callback=callback,
            action=action,
        )
        for fault in found
    ]


def _where(path: str) -> str:
    return f"{bound.render(path)} " if path else "the schema "


def faults(schema: Any, formats: Formats) -> Iterator[Fault]:
    """What the walk finds in a schema, in the order of the declaration."""
    return _walk(_Place(schema, paths.ROOT, True, ()), formats)


def value_faults(value: Any) -> Iterator[Fault]:
    """What keeps a declared value, such as a default, from being JSON."""
    return _walk(_Place(value, paths.ROOT, False, ()), Formats.of({}))


def _walk(top: _Place, formats: Formats) -> Iterator[Fault]:
    schema = top.value
    pending = [top]
    while pending:
        place = pending.pop()
        if isinstance(place.value, (dict, list)) and type(place.value) in (dict, list):
            if id(place.value) in place.around:
                yield Fault("schema-cycle", place.path, "contains itself", "Use a local $ref for recursion.")
                continue
            if len(place.around) >= MAX_DEPTH:
                problem = f"is nested more than {MAX_DEPTH} levels deep"
                yield Fault("schema-too-deep", place.path, problem, "Flatten the schema.")
                continue
        if type(place.value) is dict:
            yield from _dict_faults(place, schema, formats)
        else:
            yield from _leaf_faults(place)
        pending += reversed(list(_inside(place)))


def _inside(place: _Place) -> Iterator[_Place]:
    around = (*place.around, id(place.value))
    if type(place.value) is list:
        for index, item in enumerate(place.value):
            yield _Place(item, paths.item(place.path, index), place.is_schema, around)
    elif type(place.value) is dict:
        for key, value in place.value.items():
            if type(key) is not str:
                continue
            path = paths.join(place.path, key)
            if not place.is_schema or key not in MAP_KEYWORDS or type(value) is not dict:
                is_schema = place.is_schema and key in SCHEMA_KEYWORDS | LIST_KEYWORDS
                yield _Place(value, path, is_schema, around)
                continue
            yield from _map_faultless(value, path, around)


def _map_faultless(value: dict[Any, Any], path: str, around: tuple[int, ...]) -> Iterator[_Place]:
    """The schemas of a map of schemas; the map itself is no schema, so its keys are names, not keywords."""
    inner = (*around, id(value))
    for name, schema in value.items():
        if type(name) is str:
            yield _Place(schema, paths.join(path, name), True, inner)


def _leaf_faults(place: _Place) -> Iterator[Fault]:
    value = place.value
    if isinstance(value, float) and not math.isfinite(value):
        yield Fault(
            "schema-number", place.path, f"is {value}, which JSON does not have", "Write a finite number."
        )
    elif type(value) is str and not bound.is_sendable(value):
        problem = f"is {bound.render(value)}, which no UTF-8 can carry"
        yield Fault("schema-value", place.path, problem, "Remove the lone surrogate from the text.")
    elif type(value) is tuple:
        yield Fault("schema-value", place.path, "is a tuple", "Write a list.")
    elif type(value) not in (str, int, float, bool, type(None), list):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        problem = f"is {bound.render(value)}, a {kind}, which JSON cannot carry"
        yield Fault(
            "schema-value", place.path, problem, "Write plain strings, numbers, booleans, lists and dicts."
        )
    elif place.is_schema and type(value) not in (bool, list):
        problem = f"is {bound.render(value)}, where a schema belongs"
        yield Fault("schema-shape", place.path, problem, "Write a schema: a dict, true or false.")


def _dict_faults(place: _Place, root: Any, formats: Formats) -> Iterator[Fault]:
    yield from _key_faults(place.value, place.path)
    if not place.is_schema:
        return
    schema, path = place.value, place.path
    for keyword in sorted(MAP_KEYWORDS & schema.keys()):
        inner = paths.join(path, keyword)
        if type(schema[keyword]) is not dict:
            problem = f"is {bound.render(schema[keyword])}, not a dict of schemas"
            yield Fault("schema-map", inner, problem, f"Write {keyword} as a dict from name to schema.")
        else:
            yield from _key_faults(schema[keyword], inner)
    additional = schema.get("additionalProperties", True)
    if type(additional) not in (bool, dict):
        problem = f"is {bound.render(additional)}, which is neither true, false nor a schema"
        fix = "Write True, False or a schema."
        yield Fault("schema-additional-properties", paths.join(path, "additionalProperties"), problem, fix)
    yield from _name_faults(schema, path, root, formats)


def _key_faults(value: dict[Any, Any], path: str) -> Iterator[Fault]:
    for key in value:
        if type(key) is not str:
            problem = f"has the key {bound.render(key)}, which is no {_plain(key)}string"
            yield Fault("schema-key", path, problem, "Write the key as a string; it is never converted.")
        elif not bound.is_sendable(key):
            problem = f"has the key {bound.render(key)}, which no UTF-8 can carry"
            yield Fault("schema-key", path, problem, "Remove the lone surrogate from the key.")


def _plain(key: Any) -> str:
    return "plain " if isinstance(key, str) else ""


def _name_faults(schema: dict[str, Any], path: str, root: Any, formats: Formats) -> Iterator[Fault]:
    name = schema.get("format")
    if isinstance(name, str) and name not in formats.names:
        problem = f"is {bound.render(name)}, which is no known format"
        fix = f'Use one of {", ".join(sorted(formats.names))}, or add it to DJANGO_MCP["FORMATS"].'
        yield Fault("schema-format", paths.join(path, "format"), problem, fix)
    dialect = schema.get("$schema", DIALECT)
    if dialect not in (DIALECT, f"{DIALECT}#"):
        problem = f"is {bound.render(dialect)}, a dialect that is not supported"
        yield Fault(
            "schema-dialect", paths.join(path, "$schema"), problem, f"Leave it out, or write {DIALECT}."
        )
    if "$id" in schema and path != paths.ROOT:
        problem = "gives the schema another base for its references"
        yield Fault("schema-id", paths.join(path, "$id"), problem, "Remove $id.")
    reference = schema.get("$ref")
    if isinstance(reference, str):
        where = paths.join(path, "$ref")
        if not reference.startswith("#"):
            problem = f"is {bound.render(reference)}; a remote reference is never fetched"
            yield Fault("schema-ref-remote", where, problem, "Copy the schema in and refer to it with #/...")
        elif astray := _astray(schema, reference, root):
            problem = f"is {bound.render(reference)}, {astray}"
            yield Fault("schema-ref-unresolved", where, problem, _REF_FIX)


def _astray(schema: dict[str, Any], reference: str, root: Any) -> str | None:
    """What is wrong with where a local reference leads."""
    target = pointers.resolve(reference, root)
    if target is pointers.NOWHERE:
        return "which leads nowhere in this schema"
    if not pointers.leads_to_schema(reference):
        return "where no schema stands"
    return "which leads only back to itself" if _leads_back(schema, root) else None


_REF_FIX = "Refer to a place that exists; in an action, # is the object whose properties are the action's."


def _leads_back(schema: dict[str, Any], root: Any) -> bool:
    """Whether a reference ends where it began with no data descended into, which has no meaning."""
    pending, passed = [pointers.resolve(schema["$ref"], root)], set[int]()
    while pending:
        one = pending.pop()
        if one is schema:
            return True
        if type(one) is dict and id(one) not in passed:
            passed.add(id(one))
            pending += beside(one)
            pending.append(pointers.resolve(one.get("$ref"), root))
    return False


def _build_faults(schema: Any, formats: Formats) -> Iterator[Fault]:
    try:
        ValueGate(schema, formats)
    except SchemaError as error:
        told = list(_meta_schema_faults(schema))
        yield from told or [Fault("schema-unbuildable", paths.ROOT, f"cannot be built: {error}", _BUILD_FIX)]


_BUILD_FIX = "Correct the schema (JSON Schema draft 2020-12)."


def _meta_schema_faults(schema: Any) -> Iterator[Fault]:
    # Imported for a schema that is wrong: the import costs more than building a whole site's schemas.
    from jsonschema import Draft202012Validator

    # The meta-schema is made of parts that each look at a keyword, so one fault is found several times.
    told: set[tuple[str, str]] = set()
    for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
        path = paths.of(error.absolute_path)
        if (path, error.message) not in told:
            told.add((path, error.message))
            problem = f"breaks the meta-schema: {bound.render(error.message)}"
            yield Fault("schema-unbuildable", path, problem, _BUILD_FIX)
