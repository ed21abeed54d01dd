"""The example site as a process of its own, on a database of its own, and a worker beside it."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Server name to the command that serves the site on an inherited socket.
SERVERS = {
    "gunicorn": "gunicorn example_project.wsgi --bind fd://{fd} --threads 4 --no-control-socket",
    "uvicorn": "uvicorn example_project.asgi:application --fd {fd}",
}


@contextmanager
def running(
    server: str, folder: Path, settings: str = "example_project.settings", **variables: str
) -> Iterator[str]:
    """Run the migrated and seeded site under `gunicorn` (WSGI) or `uvicorn` (ASGI); yields its address.

    The database is a file in `folder`, the port a free one of the loopback interface. `variables` are added
    to the site's environment. When the block ends, however it ends, no process is left.
    """
    environment = environment_of(folder, settings, **variables)
    for command in ("migrate --verbosity 0", "seed"):
        manage(command, environment)
    # The socket listens before the server starts, so the first request waits for the server to start.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                *SERVERS[server].format(fd=listener.fileno()).split(),
                "--log-level",
                "warning",
            ],
            cwd=ROOT,
            env=environment,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    try:
        yield address
    finally:
        stop(process)


@contextmanager
def worker(
    folder: Path, settings: str = "example_project.settings", **variables: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker for the site in `folder`, which `running` has migrated; yields its process."""
    process = subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "db_worker",
            "--interval",
            "0.1",
            "--no-startup-delay",
            "--verbosity",
            "0",
        ],
        cwd=ROOT,
        env=environment_of(folder, settings, **variables),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        stop(process)


def environment_of(folder: Path, settings: str, **variables: str) -> dict[str, str]:
    """What the processes of one site have in common."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": settings,
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}?transaction_mode=IMMEDIATE",
        "SECRET_KEY": secrets.token_urlsafe(),
        "DEBUG": "off",
        "ALLOWED_HOSTS": "127.0.0.1",
        **variables,
    }


def manage(command: str, environment: Mapping[str, str]) -> None:
    """Run a management command of the example site; raises CalledProcessError with its output shown."""
    subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads its own session, and whatever it started."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
