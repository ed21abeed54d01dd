"""The chains of a tool's calls, from its options and the settings over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache

from django_mcp import conf
from django_mcp.policy.chain import Chain
from django_mcp.policy.options import Policy
from django_mcp.policy.resolve import matches, resolve
from django_mcp.registry.built import Built
from django_mcp.registry.registration import ActionEntry, Registration
from django_mcp.schema.offence import Offence

#: Caches that other processes do not see.
_PRIVATE_CACHES: Final = (LocMemCache, DummyCache)


def policed(built: Built, settings: conf.Settings) -> Built:
    """A tool with the chains its calls go through; unchanged where it has none."""
    registration = built.registration
    if registration is None:
        return built
    found: list[Offence] = []
    changed = _policed(registration, settings, built, found)
    refused = any(not offence.warning for offence in found)
    return replace(built, registration=None if refused else changed, offences=(*built.offences, *found))


def _policed(
    registration: Registration, settings: conf.Settings, built: Built, found: list[Offence]
) -> Registration:
    def chain(options: Mapping[str, Any], action: str | None) -> Chain | None:
        resolved = resolve(options.get("policy"), settings.policies, registration.name, action)
        of = "" if action is None else f"Action {action}: "
        callback = "options" if action is None else "actions"
        found.extend(
            Offence(fault.rule, f"{of}{fault.text}.", fault.fix, callback, action)
            for fault in resolved.faults
        )
        if resolved.policy is None:
            return None
        for rule, text, fix in _warnings(resolved.policy, options, settings.cache):
            found.append(Offence(rule, f"{of}{text}", fix, callback, action, warning=True))
        label = registration.name if action is None else f"{registration.name} {action}"
        return Chain(label, resolved.policy, settings.cache)

    def policed_entry(entry: ActionEntry, action: str | None) -> ActionEntry:
        own = chain(entry.options, action)
        return entry if own is None else replace(entry, chain=own)

    if registration.typed is not None:
        return replace(registration, typed=policed_entry(registration.typed, None))
    if registration.dispatches:
        actions = {name: policed_entry(entry, name) for name, entry in registration.actions.items()}
        return replace(registration, actions=actions)
    return replace(registration, chain=chain(registration.options, None))


def _warnings(policy: Policy, options: Mapping[str, Any], cache: str) -> Iterator[tuple[str, str, str]]:
    if policy.cache is not None and not options.get("read_only"):
        yield (
            "policy-cache-writes",
            "its answers are kept in a cache, yet it is not read_only: a repeated call does nothing.",
            "Declare it read_only, or drop the cache.",
        )
    if policy.breaker is not None and policy.breaker.shared and _is_private(cache):
        yield (
            "policy-breaker-private",
            f"its breaker is shared, yet the cache {cache!r} is not shared between processes.",
            'Name a cache of all processes in DJANGO_MCP["CACHE"].',
        )


def _is_private(alias: str) -> bool:
    return alias in caches.settings and isinstance(caches[alias], _PRIVATE_CACHES)


def dead_patterns(registrations: Iterable[Registration], settings: conf.Settings) -> Iterator[Offence]:
    """What the settings say in vain: patterns that name nothing, parts of links that lie over none."""
    targets = [target for registration in registrations for target in _targets(registration)]
    laid: dict[tuple[str, str], list[list[str]]] = {}
    for tool, action, policy in targets:
        for place, missing in resolve(policy, settings.policies, tool, action).laid.items():
            laid.setdefault(place, []).append(missing)
    for pattern in settings.policies:
        if not any(matches(pattern, tool, action) for tool, action, _ in targets):
            names = ", ".join(tool if action is None else f"{tool}.{action}" for tool, action, _ in targets)
            yield Offence(
                rule="policy-dead",
                message=f'DJANGO_MCP["POLICIES"]["{pattern}"] matches none of {names}.',
                fix="Correct the pattern (case counts) or remove it.",
                callback="POLICIES",
            )
    for (pattern, link), gaps in laid.items():
        if all(gaps):
            lacks = ", ".join(gaps[0])
            yield Offence(
                rule="policy-incomplete",
                message=f'DJANGO_MCP["POLICIES"]["{pattern}"]["{link}"] lacks {lacks}, and nothing it '
                f"matches has a {link} to lie over.",
                fix=f"Add {lacks}, or a {link} to the policy in code.",
                callback="POLICIES",
            )


def _targets(registration: Registration) -> Iterator[tuple[str, str | None, Policy | None]]:
    """What a pattern may name of a tool, with the policy that stands in the code."""
    if registration.dispatches:
        for action, entry in registration.actions.items():
            yield registration.name, action, entry.options.get("policy")
    else:
        yield registration.name, None, registration.options.get("policy")
