"""Standard input and output of a process that speaks MCP over them.

Imported while apps are loaded, so it needs nothing of this package or of Django.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Final

#: Options of every command of Django's that may stand before the subcommand and take a word.
_WITH_VALUE: Final = frozenset({"--settings", "--pythonpath", "--verbosity", "-v"})


@dataclass(frozen=True, slots=True)
class Streams:
    """Where messages come from, and what writes one."""

    lines: IO[bytes]
    write: Callable[[bytes], None]


_kept: Streams | None = None


def keep() -> Streams:
    """Keep the standard streams for messages, however often it is called.

    What prints to standard output from now on, also from C or a child process, goes to standard error; what
    reads standard input, a child process as well, finds it empty.
    """
    global _kept
    if _kept is None:
        incoming, outgoing = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        # What was printed before and waits in the buffer is no message either.
        sys.stdout.flush()
        sys.stdout = sys.stderr
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        lines = io.BufferedReader(io.FileIO(incoming, closefd=False))
        _kept = Streams(lines, partial(_write, outgoing))
    return _kept


def _write(descriptor: int, message: bytes) -> None:
    left = memoryview(message)
    while left:
        left = left[os.write(descriptor, left) :]


def is_commanded(arguments: Sequence[str]) -> bool:
    """Whether a process with these arguments is `manage.py mcp stdio`."""
    if arguments[1:2] != ["mcp"]:
        return False
    words = iter(arguments[2:])
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word == "stdio"
    return False
