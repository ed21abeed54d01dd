"""From what the code says and what the settings say over it to the policy of one tool or action."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from django.utils.module_loading import import_string

from django_mcp.conf.policies import FIELDS
from django_mcp.policy.options import Breaker, Cache, Concurrency, Degradation, Policy, Retry, Timeout
from django_mcp.schema import bound

_CLASSES: Final[dict[str, Callable[..., Any]]] = {
    "degradation": Degradation,
    "concurrency": Concurrency,
    "cache": Cache,
    "breaker": Breaker,
    "retry": Retry,
    "timeout": Timeout,
}
#: Pairs of fields of which the first must not be larger than the second.
_ORDERED: Final = (
    ("concurrency", "per_axis", "limit"),
    ("breaker", "failure_threshold", "window"),
    ("retry", "base_delay", "max_delay"),
)


class Fault(NamedTuple):
    """One thing wrong with a policy: which rule, what is there, what to write instead."""

    rule: str
    text: str
    fix: str


def faults(policy: Any) -> Iterator[Fault]:
    """What is wrong with a policy as the code has it."""
    if policy is None:
        return
    if type(policy) is not Policy:
        yield Fault(
            "policy-type",
            f"policy is {bound.render(policy)}, not a Policy",
            "Write policy=Policy(retry=Retry(...), timeout=Timeout(...), ...).",
        )
        return
    sound = True
    for link, kind in _CLASSES.items():
        stated = getattr(policy, link)
        if stated is None:
            continue
        if type(stated) is not kind:
            sound = False
            name = kind.__name__
            text = f"policy.{link} is {bound.render(stated)}, not a {name}"
            yield Fault("policy-type", text, f"Write {link}={name}(...).")
            continue
        for field, judge in FIELDS.get(link, {}).items():
            for problem in judge.problems(getattr(stated, field)):
                sound = False
                yield Fault("policy-value", f"policy.{link}.{field} {problem.text}", problem.fix)
    if sound:
        yield from _together(policy, {})


def _together(policy: Policy, sources: Mapping[tuple[str, str], str]) -> Iterator[Fault]:
    """What is wrong with values that are each right. `sources` tells which setting has set a field."""
    for link, low, high in _ORDERED:
        options = getattr(policy, link)
        if (
            options is None
            or getattr(options, low) is None
            or getattr(options, low) <= getattr(options, high)
        ):
            continue
        told = [
            f"{field} {getattr(options, field)}{_by(sources.get((link, field)))}" for field in (low, high)
        ]
        yield Fault(
            "policy-combination",
            f"policy.{link} has {told[0]}, which is more than its {told[1]}",
            f"Make {low} at most {high}.",
        )
    if policy.degradation is not None:
        yield from _stub(policy.degradation.stub, sources)


def _by(source: str | None) -> str:
    return "" if source is None else f" ({source})"


def _stub(stub: Any, sources: Mapping[tuple[str, str], str]) -> Iterator[Fault]:
    problem = _stub_problem(stub)
    if problem is not None:
        by = _by(sources.get(("degradation", "stub")))
        text = f"policy.degradation.stub{by} {problem}"
        yield Fault("policy-stub", text, "Write the stub as a plain def stub(data, ctx).")


def _stub_problem(stub: Any) -> str | None:
    if not callable(stub):
        return f"is {bound.render(stub)}, not a function"
    if inspect.iscoroutinefunction(stub):
        return "is async def; what stands in for a failure waits for nothing"
    try:
        inspect.signature(stub).bind({}, None)
    except (TypeError, ValueError) as error:
        return f"cannot be called with data and ctx: {error}"
    return None


class Resolved(NamedTuple):
    """The policy of one tool or action, None where it has none, and what is wrong with it.

    `laid` holds pattern and link of what the settings lay over it, with the fields that are missing for it to
    have an effect: a part of a link lies over a link of the code and does not make one.
    """

    policy: Policy | None
    faults: list[Fault]
    laid: dict[tuple[str, str], list[str]]


def matches(pattern: str, tool: str, action: str | None) -> bool:
    """Whether a pattern of `POLICIES` names this tool, or this action as `tool.action`."""
    return fnmatchcase(tool, pattern) or (action is not None and fnmatchcase(f"{tool}.{action}", pattern))


def resolve(
    declared: Policy | None, policies: Mapping[str, Mapping[str, Any]], tool: str, action: str | None
) -> Resolved:
    """Lay what the settings say over a sound policy of the code, field by field."""
    patterns = [pattern for pattern in policies if matches(pattern, tool, action)]
    if not patterns:
        return Resolved(_worth(declared), [], {})
    # Sorted is stable: of patterns that are as specific, the later one wins.
    patterns.sort(key=lambda pattern: _specificity(pattern, tool))
    values, sources = _laid(declared, policies, patterns)
    laid: dict[tuple[str, str], list[str]] = {}
    links: dict[str, Any] = {}
    for link, stated in values.items():
        missing = [
            field.name
            for field in fields(_CLASSES[link])  # type: ignore[arg-type]  # all of them are dataclasses
            if field.default is MISSING and field.name not in stated
        ]
        laid.update({(pattern, link): missing for pattern in patterns if policies[pattern].get(link)})
        if missing:
            continue
        if "stub" in stated and isinstance(stated["stub"], str):
            try:
                stated["stub"] = import_string(stated["stub"])
            except ImportError:
                continue  # told where the settings are judged
        links[link] = _CLASSES[link](**stated)
    policy = Policy(**links)
    found = list(_together(policy, sources))
    return Resolved(None if found else _worth(policy), found, laid)


def _laid(
    declared: Policy | None, policies: Mapping[str, Mapping[str, Any]], patterns: list[str]
) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str], str]]:
    """Every field of every link, and which setting has it from."""
    values: dict[str, dict[str, Any]] = {}
    sources: dict[tuple[str, str], str] = {}
    for link in _CLASSES:
        stated = None if declared is None else getattr(declared, link)
        if stated is not None:
            values[link] = {field.name: getattr(stated, field.name) for field in fields(stated)}
    for pattern in patterns:
        for link, stated in policies[pattern].items():
            if stated is None:
                values.pop(link, None)
                continue
            values.setdefault(link, {}).update(stated)
            for field in stated:
                sources[link, field] = f'DJANGO_MCP["POLICIES"]["{pattern}"]["{link}"]["{field}"]'
    return values, sources


def _specificity(pattern: str, tool: str) -> tuple[bool, bool, int]:
    """An action beats a tool, a name beats a pattern, a longer pattern beats a shorter one."""
    literal = sum(character not in "*?[]" for character in pattern)
    return not fnmatchcase(tool, pattern), literal == len(pattern), literal


def _worth(policy: Policy | None) -> Policy | None:
    """A policy without a link is none."""
    return None if policy is None or policy == replace(policy, **dict.fromkeys(_CLASSES)) else policy
