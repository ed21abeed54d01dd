from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote


class _Nowhere:
    """What a pointer resolves to that leads nowhere."""


NOWHERE: Final = _Nowhere()


def resolve(reference: Any, root: Any) -> Any:
    """What a local `$ref` (`#` or `#/...`, RFC 6901) points to, or NOWHERE."""
    if reference == "#":
        return root
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return NOWHERE
    target = root
    for token in unquote(reference[2:]).split("/"):
        step = token.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdecimal() and int(step) < len(target):
            target = target[int(step)]
        else:
            return NOWHERE
    return target
