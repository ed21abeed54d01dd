from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.live

COMMAND = [sys.executable, "-m", "example_project.demo"]


def port(line):
    return int(re.search(r"http://127\.0\.0\.1:(\d+)", line)[1])


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_demo_ends_well_and_takes_the_site_down():
    done = subprocess.run(COMMAND, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "demo: 3 calls corrected, 1 consented to, ok"
    assert not listens(port(lines[0]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demo_ended_from_outside_fails_and_takes_the_site_down(number):
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as demo:
        address = port(demo.stdout.readline())
        demo.send_signal(number)
        demo.stdout.read()

    assert demo.returncode != 0
    assert not listens(address)
