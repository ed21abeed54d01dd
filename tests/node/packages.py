"""The Node packages that tests of other clients run: installed from the lock file, into this folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

NODE = Path(__file__).parent


def node() -> str:
    """Install what the lock file names, unless that is done, and return the Node to run it with.

    The lock file brings a Node of its own, because the packages need a newer one than many systems have.
    """
    lock, done = NODE / "package-lock.json", NODE / "node_modules" / ".done"
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=NODE, check=True)
        done.write_bytes(lock.read_bytes())
    own = NODE / "node_modules" / ".bin" / "node"
    return str(own) if own.exists() else "node"
