"""A PostgreSQL server of its own, from the binaries that Debian's package brings."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
#: Why the tests on PostgreSQL are skipped, if they are.
MISSING = None if BINARIES else "PostgreSQL is not installed (Debian's package postgresql)"


class Postgres:
    """A running server; `url` names its database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"postgres://tests@127.0.0.1:{self.port}/postgres"
        self._owner: dict[str, int | str] = {}
        if os.geteuid() == 0:
            # It refuses to run as root.
            owner = pwd.getpwnam("postgres")
            self._owner = {"user": owner.pw_uid, "group": owner.pw_gid}
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "--username", "tests", "--auth", "trust", "--encoding", "UTF8", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(BINARIES[-1].with_name(program)), "--pgdata", str(self.folder), *arguments]
        subprocess.run(
            command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._owner
        )

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k '' -F"
        self._run("pg_ctl", "--wait", "--log", str(self.folder / "log"), "--options", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "--wait", "--mode", "immediate", "stop")


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server while the block runs. Its files are not in a folder of pytest's, which is root's alone."""
    with TemporaryDirectory(prefix="postgres-") as folder:
        server = Postgres(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
