"""What is declared where nothing looks for it, which is seldom meant."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from django_mcp.authoring.declare import MARK
from django_mcp.authoring.reading import marked
from django_mcp.authoring.tool import Callbacks
from django_mcp.schema.offence import Offence
from django_mcp.typed.tool import TOOL_MARK


def strays(registered: Iterable[object]) -> Iterator[tuple[type, Offence]]:
    """Classes of `mcp` modules that are neither registered nor the base of one that is."""
    classes = [one for one in registered if isinstance(one, type)]
    for cls in _subclasses(Callbacks):
        if _is_of_an_mcp_module(cls) and not any(issubclass(one, cls) for one in classes):
            yield (
                cls,
                Offence(
                    rule="tool-unregistered",
                    message=f"It is defined in {cls.__module__} and not registered, so no server serves it.",
                    fix="Decorate it with @register, or move a base class into another module.",
                    callback="register",
                    warning=True,
                ),
            )
    yield from _unclaimed(classes)


def _unclaimed(registered: list[type]) -> Iterator[tuple[type, Offence]]:
    """Classes of `mcp` modules with marked methods that are no tools, nor among the bases of one."""
    for module in [one for name, one in sys.modules.items() if name.endswith(".mcp")]:
        for cls in vars(module).values():
            if not isinstance(cls, type) or issubclass(cls, Callbacks) or not _is_of_an_mcp_module(cls):
                continue
            for mark, written, base in ((TOOL_MARK, "@tool", "Toolset"), (MARK, "@action", "Tool")):
                if marked(cls, mark) and not any(issubclass(one, cls) for one in registered):
                    yield (
                        cls,
                        Offence(
                            rule="tool-unregistered",
                            message=f"It has methods marked with {written} and is no {base}, so no server "
                            "serves them.",
                            fix=f"Derive it from {base} and decorate it with @register.",
                            callback="register",
                            warning=True,
                        ),
                    )


def astray(cls: type, mark: str, written: str, fix: str) -> Iterator[Offence]:
    """Methods with a mark that this kind of class does not look for."""
    for name in marked(cls, mark):
        yield Offence(
            rule="mark-astray",
            message=f"{name} is marked with {written}, which this class does not look for.",
            fix=fix,
            callback=name,
        )


def _subclasses(cls: type) -> Iterator[type]:
    inner: type
    for inner in cls.__subclasses__():
        yield inner
        yield from _subclasses(inner)


def _is_of_an_mcp_module(cls: type) -> bool:
    """Whether it stands in a module that autodiscovery imports, under its own name."""
    if not cls.__module__.endswith(".mcp"):
        return False
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls
