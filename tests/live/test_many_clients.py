"""Two hundred clients at once, each with its own connection: none loses an answer or gets another's."""

from __future__ import annotations

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.live

CLIENTS = 200
CALLS = 5
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call(connection, path, request_id):
    """One refused call whose answer quotes what this very request sent."""
    params = {"name": "tasks", "arguments": {"action": f"no-{request_id}"}, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "tasks",
    }
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    refusal = json.loads(answer["result"]["content"][0]["text"])
    return response.status, answer["id"], refusal["error"], f"'no-{request_id}'" in refusal["message"]


def test_two_hundred_clients_at_once_lose_no_answer(endpoint):
    address = urlsplit(endpoint)
    together = threading.Barrier(CLIENTS, timeout=60)

    def client(number):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        together.wait()
        try:
            return [call(connection, address.path, f"{number}-{turn}") for turn in range(CALLS)]
        finally:
            connection.close()

    with ThreadPoolExecutor(CLIENTS) as threads:
        answers = list(threads.map(client, range(CLIENTS)))
    assert answers == [
        [(200, f"{number}-{turn}", "unknown_action", True) for turn in range(CALLS)]
        for number in range(CLIENTS)
    ]
