"""Servers on loopback, the load they get, and what it costs them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
#: Connections that are kept open and used at the same time.
CONNECTIONS: Final = 4

COMMANDS: Final[Mapping[str, str]] = {
    "gunicorn threads": "gunicorn -w 1 -k gthread --threads 4 --keep-alive 75 --log-level warning "
    "-b 127.0.0.1:{port} {app}:wsgi",
    "granian WSGI": "granian --interface wsgi --workers 1 --runtime-threads 1 --blocking-threads 1 --no-ws "
    "--no-access-log --log-level warning --host 127.0.0.1 --port {port} {app}:wsgi",
    "uvicorn": "uvicorn --loop uvloop --http httptools --no-access-log --log-level warning "
    "--host 127.0.0.1 --port {port} {app}:asgi",
}


@dataclass(frozen=True, slots=True)
class Target:
    """Who answers, and on what. `environment` is a folder of `make bench`, `app` one of `benchmarks.apps`."""

    name: str
    server: str
    environment: str
    app: str
    #: What stands before the path of a request.
    prefix: str = "/"
    #: Whether one process serves every set of tools.
    is_whole: bool = True


class Server:
    """A running server, of one worker."""

    def __init__(self, target: Target, environments: Path, variables: Mapping[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        command = COMMANDS[target.server].format(port=self.port, app=f"benchmarks.apps.{target.app}").split()
        command[0] = str(environments / target.environment / "bin" / command[0])
        self._log = (environments / f"{target.app}-{self.port}.log").open("wb")
        quiet = {"FASTMCP_SHOW_SERVER_BANNER": "false", "FASTMCP_LOG_LEVEL": "ERROR"}
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(environments),
                "PYTHONPATH": str(ROOT),
                **quiet,
                **variables,
            },
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        # The load is made on another processor.
        os.sched_setaffinity(self._process.pid, {min(os.sched_getaffinity(0))})

    def wait(self) -> None:
        """Until it listens."""
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"A server did not start: {self._log.name}")

    def cpu_seconds(self) -> float:
        """What the process and its children have used."""
        seconds = 0.0
        for pid in self._tree():
            with contextlib.suppress(OSError):
                # The clock of another process (clock_getcpuclockid of Linux); threads that have ended count.
                seconds += time.clock_gettime((~pid << 3) | 2)
        return seconds

    def peak_mb(self) -> float:
        """The most memory that a process of it has had."""
        most = 0
        for pid in self._tree():
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM"):
                    most = max(most, int(line.split()[1]))
        return most / 1024

    def _tree(self) -> list[int]:
        pids = [self._process.pid]
        for pid in pids:
            with contextlib.suppress(FileNotFoundError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    pids += map(int, (task / "children").read_text().split())
        return pids

    def stop(self) -> None:
        pids = self._tree()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait(10)
        self._log.close()


class Load:
    """The same request again and again, over connections that stay open, one answer awaited on each."""

    def __init__(self, port: int, path: str, headers: Mapping[str, str], body: bytes) -> None:
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._address = ("127.0.0.1", port)
        self._sent = "\r\n".join([*lines, "", ""]).encode() + body

    def once(self) -> tuple[int, bytes]:
        with socket.create_connection(self._address, 30) as connection:
            connection.sendall(self._sent)
            return _answer(connection)

    def run(self, requests: int) -> None:
        """Every connection has a request under way, until so many are answered."""
        with contextlib.ExitStack() as stack:
            connections = [
                stack.enter_context(socket.create_connection(self._address, 30)) for _ in range(CONNECTIONS)
            ]
            for connection in connections:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.sendall(self._sent)
            for number in range(requests):
                connection = connections[number % CONNECTIONS]
                _answer(connection)
                if number + CONNECTIONS < requests:
                    connection.sendall(self._sent)


def _answer(connection: socket.socket) -> tuple[int, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    status, lowered = int(head.split(b" ", 2)[1]), head.lower()
    if b"transfer-encoding: chunked" in lowered:
        while not body.endswith(b"0\r\n\r\n"):
            body += _more(connection)
        return status, _joined(body)
    length = int(lowered.partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += _more(connection)
    return status, body


def _joined(chunks: bytes) -> bytes:
    body = b""
    while chunks:
        size, _, chunks = chunks.partition(b"\r\n")
        body += chunks[: int(size, 16)]
        chunks = chunks[int(size, 16) + 2 :]
    return body


def _more(connection: socket.socket) -> bytes:
    received = connection.recv(65536)
    if not received:
        raise SystemExit("A server closed a connection.")
    return received
