"""Keywords that are misspelt: a schema takes any other word for an annotation, and holds nobody to it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

from django_mcp.schema import bound, paths
from django_mcp.schema.keywords import subschemas
from django_mcp.schema.offence import Offence

#: The keywords of draft 2020-12.
KEYWORDS: Final = frozenset(
    [
        "$anchor",
        "$comment",
        "$defs",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$ref",
        "$schema",
        "$vocabulary",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "definitions",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "deprecated",
        "description",
        "else",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "if",
        "items",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "readOnly",
        "required",
        "then",
        "title",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
        "writeOnly",
    ]
)
#: The shortest keyword that may have been meant: by chance an author's own words resemble `if` and `not`.
_SHORTEST: Final = 4
_MEANT: Final = tuple(sorted(keyword for keyword in KEYWORDS if len(keyword) >= _SHORTEST))
_CLOSE: Final = 0.8
_LONGEST: Final = 64


def offences(schema: Any, *, callback: str, action: str | None = None) -> Iterator[Offence]:
    """Warnings of the words in a schema that are no keyword and nearly one."""
    owner = callback if action is None else f"Action {action}"
    for path, inner in subschemas(schema):
        for word in inner if isinstance(inner, dict) else ():
            meant = _meant(word)
            if meant is not None:
                yield Offence(
                    rule="schema-misspelt",
                    message=f"{owner}: {bound.render(paths.join(path, word))} is no keyword, "
                    "so it has no effect.",
                    fix=f"Did you mean {meant}?",
                    callback=callback,
                    action=action,
                    warning=True,
                )


def _meant(word: Any) -> str | None:
    if type(word) is not str or word in KEYWORDS or len(word) > _LONGEST:
        return None
    return next(iter(difflib.get_close_matches(word, _MEANT, n=1, cutoff=_CLOSE)), None)
