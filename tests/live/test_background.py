"""Background work across processes: a site, its workers, and what happens to them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from django_mcp.testing import build_call, mirrored_headers
from example_project.process import ROOT, environment_of, running, worker
from tests.live.postgres import MISSING, Postgres, postgres

pytestmark = pytest.mark.live

SETTINGS = "tests.live.background.settings"


@dataclass
class Site:
    """The site's address, and all that another process needs to be of it."""

    address: str
    folder: Path
    variables: dict[str, str]
    database: Postgres | None

    def worker(self):
        return worker(self.folder, SETTINGS, **self.variables)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The JSON that a call answers with."""
        body = build_call(tool, arguments)
        headers = {"Content-Type": "application/json", "Accept": "application/json", **mirrored_headers(body)}
        request = urllib.request.Request(f"{self.address}/mcp", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            result = json.loads(response.read())["result"]
        assert result["isError"] is False, result
        return json.loads(result["content"][0]["text"])

    def submit(self, action: str) -> str:
        return self.call("work", {"action": action})["task_id"]

    def status(self, task_id: str) -> dict[str, Any]:
        return self.call("task_status", {"task_id": task_id})

    def until(self, task_id: str, *statuses: str, message: str | None = None) -> dict[str, Any]:
        """Ask for the status until it is one of these."""
        for _ in range(600):
            status = self.status(task_id)
            if status["status"] in statuses and message in (None, status["message"]):
                return status
            time.sleep(0.1)
        raise AssertionError(f"Task {task_id} stays {status}.")

    def begun(self) -> dict[str, int]:
        """How often each task was begun."""
        return self.call("work", {"action": "begun"})

    def mcp(self, *arguments: str) -> str:
        """What `manage.py mcp tasks` says."""
        done = subprocess.run(
            [sys.executable, "manage.py", "mcp", "tasks", *arguments],
            cwd=ROOT,
            env=environment_of(self.folder, SETTINGS, **self.variables),
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def site(request, tmp_path_factory):
    """The site with its database, and no worker yet."""
    folder = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        database, variables = None, {}
        if request.param == "postgresql":
            if MISSING:
                pytest.skip(MISSING)
            database = stack.enter_context(postgres(folder))
            variables["DATABASE_URL"] = database.url
        address = stack.enter_context(running("gunicorn", folder, SETTINGS, **variables))
        yield Site(address, folder, variables, database)


def test_a_site_submits_and_a_worker_runs(site):
    task_id = site.submit("trace")
    assert site.status(task_id)["status"] == "working"

    with site.worker():
        site.until(task_id, "completed")

    assert site.call("task_result", {"task_id": task_id}) == {"done": task_id}


@pytest.mark.parametrize("sent", ["a\0b", "\0" * 32, "é" * 32])
def test_an_id_that_no_database_can_hold_is_an_unknown_one(site, sent):
    with pytest.raises(AssertionError, match="There is no task"):
        site.status(sent)


RESULTS = {
    "word": "word",
    "name": "name",
    "number": 7,
    "tree": {"name": "root", "parts": [{"name": "leaf", "parts": []}]},
    "forest": [{"name": "root", "parts": [{"name": "leaf", "parts": []}]}],
}


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_official_client_accepts_every_receipt_status_and_result(site, mode):
    with site.worker():
        async with Client(f"{site.address}/mcp", mode=mode, read_timeout_seconds=60) as client:
            await client.list_tools()
            for tool, value in RESULTS.items():
                receipt = await client.call_tool(f"background__{tool}", {})
                task = receipt.structured_content
                status = await client.call_tool("task_status", task)
                while status.structured_content["status"] == "working":
                    await asyncio.sleep(0.1)
                    status = await client.call_tool("task_status", task)
                result = await client.call_tool("task_result", task)
                assert (result.is_error, result.structured_content) == (False, {"result": value})


def test_a_worker_that_is_killed_fails_its_task_which_nobody_runs_again(site):
    task_id = site.submit("endless")
    with site.worker() as process:
        site.until(task_id, "working", message="working")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)

    for _ in range(100):
        if site.mcp("sweep", "--stale-s", "1").startswith("1 tasks had lost"):
            break
        time.sleep(0.2)
    status = site.status(task_id)
    assert status["status"] == "failed"
    assert status["message"] == "The worker that ran this stopped before the end; it was not run again."

    other = site.submit("trace")
    with site.worker():
        site.until(other, "completed")
    assert site.begun()[task_id] == 1


def test_a_task_that_runs_elsewhere_is_cancelled_through_its_row(site):
    task_id = site.submit("endless")
    with site.worker():
        site.until(task_id, "working", message="working")
        assert site.call("task_cancel", {"task_id": task_id})["status"] == "working"
        assert site.until(task_id, "cancelled")["message"] == "cancelled"


def test_a_task_that_is_cancelled_before_a_worker_comes_is_never_begun(site):
    task_id, other = site.submit("trace"), site.submit("trace")
    assert site.call("task_cancel", {"task_id": task_id})["status"] == "cancelled"

    with site.worker():
        site.until(other, "completed")
    assert task_id not in site.begun()


def test_of_500_tasks_at_once_and_two_workers_none_is_lost_and_none_begun_twice(site):
    with site.worker(), site.worker():
        with ThreadPoolExecutor(8) as clients:
            submitted = list(clients.map(site.submit, ["trace"] * 500))
        for task_id in submitted:
            site.until(task_id, "completed")

    begun = site.begun()
    assert {task_id: begun.get(task_id) for task_id in submitted} == dict.fromkeys(submitted, 1)


def test_a_database_that_is_restarted_loses_nothing(site):
    if site.database is None:
        pytest.skip("SQLite is no server")
    waiting, running = site.submit("trace"), site.submit("endless")
    with site.worker() as process:
        site.until(running, "working", message="working")
        os.kill(process.pid, signal.SIGSTOP)
        site.database.stop()
        site.database.start()
        os.kill(process.pid, signal.SIGCONT)
        site.call("task_cancel", {"task_id": running})
        site.until(running, "cancelled", "failed")

    with site.worker():
        site.until(waiting, "completed")
