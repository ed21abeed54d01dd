"""What the links of a policy are made of: the same for `POLICIES` and for a policy in code."""

from __future__ import annotations

from typing import Final

from django_mcp.conf.kinds import (
    BOOLEAN,
    STRING,
    DottedPath,
    Keyed,
    Kind,
    Optional,
    Table,
    integer,
    number,
)

#: Link to its fields, in the order they are passed from the outside; the stub stands apart.
FIELDS: Final[dict[str, dict[str, Kind]]] = {
    "concurrency": {"limit": integer(1), "per_axis": Optional(integer(1))},
    "cache": {"ttl": number(above=0), "public": BOOLEAN, "cache_errors": BOOLEAN},
    "breaker": {
        "window": integer(1),
        "failure_threshold": integer(1),
        "reset_timeout": number(above=0),
        "shared": BOOLEAN,
    },
    "retry": {
        "attempts": integer(1),
        "base_delay": number(at_least=0),
        "max_delay": number(above=0),
        "jitter": BOOLEAN,
    },
    "timeout": {"seconds": number(above=0)},
}

_STUB: Final = DottedPath("a function of data and ctx")

#: `POLICIES`: pattern to the fields that a deployment sets; None takes a link away.
POLICIES: Final = Keyed(
    STRING,
    Table(
        {
            "degradation": Optional(Table({"stub": _STUB})),
            **{link: Optional(Table(fields)) for link, fields in FIELDS.items()},
        }
    ),
    "a mapping of patterns to policies",
)
