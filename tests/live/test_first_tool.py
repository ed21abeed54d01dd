"""The tutorial, followed word for word in an empty folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

PAGE = Path(__file__).parent.parent.parent / "docs" / "first-tool.md"
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.S)
#: The tests run in an environment where these have been done.
DONE = ("python -m venv", ". .venv/bin/activate", "pip install")
ADDRESS = "127.0.0.1:8000"


class Reader:
    """Does in `folder` what the page says, on a free port in place of the page's."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        self.environment.pop("DJANGO_SETTINGS_MODULE", None)

    def write(self, before, text):
        path = self.folder / re.findall(r"`([\w/]+\.py)`", before)[-1]
        text = text.replace(ADDRESS, self.address)
        path.write_text(path.read_text() + text if "at the end of" in before else text)

    def command(self, line):
        program, *arguments = shlex.split(line)
        programs = {"python": [sys.executable], "django-admin": [sys.executable, "-m", "django"]}
        return [*programs[program], *arguments]

    def run(self, line):
        done = subprocess.run(
            self.command(line),
            cwd=self.folder,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    @contextmanager
    def running(self, line):
        """Django's server, once it says that it is there."""
        command = [*self.command(line), self.address, "--noreload"]
        environment = {**self.environment, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                assert any("Starting development server" in said for said in process.stdout)
                yield
            finally:
                process.terminate()


def steps():
    """Each code block of the page: the text before it, its language, and what is in it."""
    texts = iter(FENCE.split(PAGE.read_text())[:-1])
    return zip(texts, texts, texts, strict=True)


def commands(block):
    """Each command of a console block with the output shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        line, _, output = part.partition("\n")
        if not line.startswith(DONE):
            yield line, output


def documents(text):
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found


def test_following_the_page_leads_to_the_answers_it_shows(tmp_path):
    reader = Reader(tmp_path)
    served, shown, printed = None, [], []

    for before, language, block in steps():
        if language == "python":
            reader.write(before, block)
        elif language == "json":
            shown.append(json.loads(block))
        elif "runserver" in block:
            ((served, _),) = commands(block)
        elif "call.py" in block:
            ((line, _),) = commands(block)
            with reader.running(served):
                printed = documents(reader.run(line))
        else:
            for line, output in commands(block):
                said = reader.run(line)
                assert said == output or not output

    assert printed == shown
