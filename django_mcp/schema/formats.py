from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

#: What jsonschema-rs asserts by itself (JSON Schema 2020-12, section 7.3).
BUILT_IN = frozenset(
    {
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    }
)

#: What is right for formats that are easily missed: a time without its offset, a UUID without its hyphens.
_EXAMPLES = MappingProxyType(
    {
        "date": "2027-01-31",
        "date-time": "2027-01-31T13:30:00Z",
        "duration": "PT1H30M",
        "time": "13:30:00Z",
        "uri": "https://example.com/",
        "uuid": "0b6d1f0e-54c2-4a53-9a39-3c1f6c0d7a11",
    }
)

#: Formats that say how to show or carry a string, not which strings are right.
ANNOTATIONS = frozenset({"binary", "password"})


@dataclass(frozen=True, slots=True)
class Formats:
    """The catalogue of `format` names: jsonschema-rs's, the annotations, and the site's `FORMATS`."""

    names: frozenset[str]
    checks: Mapping[str, Callable[[str], bool]]

    def example(self, name: str) -> str | None:
        """A string that is right, of a format whose check is not the site's own."""
        return None if name in self.checks else _EXAMPLES.get(name)

    @classmethod
    def of(cls, extra: Mapping[str, Callable[[str], bool] | None]) -> Formats:
        """`extra` maps a name to a check of a string, or to None for one that only annotates."""
        checks = {name: _anything if check is None else _judging(check) for name, check in extra.items()}
        checks |= {name: _anything for name in ANNOTATIONS if name not in checks}
        return cls(BUILT_IN | frozenset(checks), MappingProxyType(checks))

    def annotating(self, names: Iterable[str]) -> Formats:
        """The same catalogue with formats that say what a string is and judge none."""
        checks = {**self.checks, **dict.fromkeys(names, _anything)}
        return Formats(self.names | frozenset(names), MappingProxyType(checks))


def _judging(check: Callable[[str], bool]) -> Callable[[str], bool]:
    """A check that is a parser says no by a ValueError; any other exception is a fault of the site's."""

    def judge(value: str) -> bool:
        try:
            return bool(check(value))
        except ValueError:
            return False

    return judge


def _anything(value: str) -> bool:
    return True
