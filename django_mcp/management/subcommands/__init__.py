"""What `manage.py mcp` can do, one subcommand a module: each has a `SUBCOMMAND`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.management.base import BaseCommand


@dataclass(frozen=True, slots=True)
class Subcommand:
    """`run(command, options)` writes to the command's streams and raises CommandError for a failure."""

    name: str
    help: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[BaseCommand, dict[str, Any]], None]
