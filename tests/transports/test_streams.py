"""Standard streams that are kept for messages."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.apps import apps

from django_mcp.apps import DjangoMcpConfig
from django_mcp.transports import streams


def python(code, **options):
    """Run this in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=True, **options
    )


def test_they_are_kept_once(capfd):
    standard = [os.dup(descriptor) for descriptor in (0, 1)]
    shown = sys.stdout
    try:
        kept = streams.keep()
        kept.write(b"one\n")
        print("stray")  # noqa: T201
        assert streams.keep() is kept
        kept.write(b"two\n")
        moved = [kept.lines.fileno(), kept.write.args[0]]
    finally:
        for descriptor, before in enumerate(standard):
            os.dup2(before, descriptor)
        streams._kept, sys.stdout = None, shown
    kept.lines.close()
    for descriptor in (*standard, *moved):
        os.close(descriptor)
    assert capfd.readouterr() == ("one\ntwo\n", "stray\n")


def test_only_messages_reach_them():
    """Whatever way is taken to print, also before."""
    code = """
import os, sys
print("early")
from django_mcp.transports import streams
kept = streams.keep()
print("stray")
os.write(1, b"from C\\n")
os.system("echo from a child")
kept.write(b"{}\\n")
"""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    done = python(code, env=environment)
    assert done.stdout == b"{}\n"
    assert sorted(done.stderr.splitlines()) == [b"early", b"from C", b"from a child", b"stray"]


def test_nobody_else_reads_a_message():
    code = """
import os, sys
from django_mcp.transports import streams
kept = streams.keep()
os.system("cat")
assert sys.stdin.read() == ""
kept.write(kept.lines.readline() + kept.lines.read())
"""
    assert python(code, input=b"one\ntwo\n").stdout == b"one\ntwo\n"


def test_what_cannot_be_printed_disturbs_nobody():
    """A handler prints a name, and the locale knows ASCII alone."""
    code = """
from django_mcp.transports import streams
kept = streams.keep()
print("Zo\\xeb")
"""
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    assert python(code, env=environment).stderr == b"Zo\\xeb\n"


def test_a_long_message_is_written_whole():
    code = """
from django_mcp.transports import streams
streams.keep().write(b"x" * 3_000_000 + b"\\n")
"""
    assert len(python(code).stdout) == 3_000_001


@pytest.mark.parametrize(
    ("arguments", "commanded"),
    [
        (["manage.py", "mcp", "stdio", "--user", "ada"], True),
        (["manage.py", "mcp", "--settings", "shop.settings", "--pythonpath", "/srv", "stdio"], True),
        (["manage.py", "mcp", "--settings=shop.settings", "-v", "2", "--no-color", "stdio"], True),
        (["manage.py", "mcp", "call", "stdio"], False),
        (["manage.py", "mcp", "--settings", "stdio", "list"], False),
        (["manage.py", "mcp", "list"], False),
        (["manage.py", "mcp", "--settings"], False),
        (["manage.py", "mcp"], False),
        (["manage.py", "runserver"], False),
        (["pytest"], False),
    ],
)
def test_the_command_is_known_by_its_arguments(arguments, commanded):
    assert streams.is_commanded(arguments) is commanded


@pytest.mark.parametrize(("commanded", "kept"), [("stdio", [True]), ("list", [])])
def test_they_are_kept_before_any_model_or_tool_is_loaded(monkeypatch, commanded, kept):
    done = []
    monkeypatch.setattr(sys, "argv", ["manage.py", "mcp", commanded])
    monkeypatch.setattr(streams, "keep", lambda: done.append(True))
    DjangoMcpConfig("django_mcp", apps.get_app_config("django_mcp").module)
    assert done == kept
