"""`python -m example_project.demo`: the official MCP client calls the example site; prints a transcript."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any, NoReturn

from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult, TextContent

from example_project.process import running, worker

REVISION = "2026-07-28"


class Demo:
    """One client's conversation, printed as it goes. An unexpected answer raises RuntimeError."""

    client: Client

    def __init__(self) -> None:
        self.calls = 0
        self.asked = 0
        self.corrected = 0

    async def run(self) -> None:
        await self.look_around()
        await self.misspell_a_key()
        await self.send_a_bad_item()
        await self.count_by_type()
        await self.have_a_report_written()
        await self.delete_with_consent()

    async def look_around(self) -> None:
        heading("Who is there?")
        sent("server/discover")
        # A client pinned to a revision takes the server's word for granted; this asks for it.
        discovered = await self.client.session.send_discover(REVISION)
        received(discovered)
        expect(REVISION in discovered["supportedVersions"], f"the site speaks {REVISION}")

        heading("Which tools?")
        sent("tools/list")
        tools = (await self.client.list_tools()).tools
        received({tool.name: (tool.description or "").partition("\n")[0] for tool in tools})
        names = ["tasks", "tracker__workload", "help", "task_status", "task_result", "task_cancel"]
        expect([tool.name for tool in tools] == names, f"the site has the tools {', '.join(names)}")

        heading("What can they do?")
        index = await self.call("help", {})
        expect(index["tools"][0]["tool"] == "tasks", "help lists tasks")

    async def misspell_a_key(self) -> None:
        heading("A wrong call: a key is misspelt")
        data: dict[str, Any] = {"project": "Website", "title": "Write the release notes", "deu": "2027-01-31"}
        refusal = await self.call("tasks", {"action": "create", "data": data}, refused="unknown_params")

        heading("The same call, corrected by what the answer says")
        nearest = refusal["did_you_mean"]
        data = {nearest.get(key, key): value for key, value in data.items()}
        created = await self.correct("tasks", {"action": "create", "data": data})
        expect(created["task"]["due"] == "2027-01-31", "the task has its due day")

        heading("The answer's first hint, followed")
        hint = created["hints"][0]
        seen = await self.call(hint["tool"], {"action": hint["action"], **hint["example"]})
        expect(seen["task"] == created["task"], "the hint leads to the created task")

    async def send_a_bad_item(self) -> None:
        heading("A wrong call: one item of many has a bad value")
        items = [
            {"project": "Website", "title": "Choose a font"},
            {"project": "Office move", "title": "Label the boxes", "due": "next Monday"},
        ]
        arguments = {"action": "import_many", "data": {"items": items}}
        refusal = await self.call("tasks", arguments, refused="invalid_values")
        expect(refusal["invalid"][0]["path"] == "items[1].due", "the answer names the value")

        heading("Corrected; nothing of the refused call was written")
        items[1]["due"] = "2027-02-01"
        imported = await self.correct("tasks", arguments)
        expect(imported["created"] == len(items), "all items were created")

    async def count_by_type(self) -> None:
        heading(
            "A tool made of a function and its type hints: dates arrive as dates, results keep their schema"
        )
        await self.call("tracker__workload", {"until": "31.12.2027"}, refused="invalid_values")
        workload = await self.correct("tracker__workload", {"until": "2027-12-31"})
        expect(workload["Website"] > 0, "the website has open tasks")

    async def have_a_report_written(self) -> None:
        heading("Work that takes longer than a call")
        receipt = await self.call("tasks", {"action": "report"})

        heading("It is done by a worker, a process of its own; the client asks how it stands")
        status = await self.call("task_status", receipt)
        while status["status"] == "working":
            await asyncio.sleep(0.2)
            status = await self.call("task_status", receipt)
        expect(status["status"] == "completed", "the report is written")

        heading("The report")
        report = await self.call("task_result", receipt)
        expect(any(row["project"] == "Website" for row in report["projects"]), "it is of every project")

    async def delete_with_consent(self) -> None:
        heading("Something destructive: the client asks its user first")
        listed = await self.call("tasks", {"action": "list", "data": {"page_size": 1}})
        data = {"id": listed["tasks"][0]["id"]}
        deleted = await self.call("tasks", {"action": "delete", "data": data})
        expect(deleted["deleted"]["id"] == data["id"], "the task is deleted")
        expect(self.asked == 1, "the user was asked once")

    async def consent(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        """Stands for the user, who reads the question and agrees."""
        self.asked += 1
        print(f"  <- asks the user: {params.message}")
        print("  -> the user accepts", flush=True)
        return ElicitResult(action="accept")

    async def call(self, tool: str, arguments: dict[str, Any], refused: str | None = None) -> dict[str, Any]:
        """Call a tool and return its JSON answer; `refused` names the error it has to answer with."""
        sent(f"tools/call {tool} {json.dumps(arguments)}")
        result = await self.client.call_tool(tool, arguments)
        self.calls += 1
        content = result.content[0]
        if not isinstance(content, TextContent):
            raise RuntimeError(f"Expected text, not {content.type}.")
        answer: dict[str, Any] = json.loads(content.text)
        received(answer, "refused" if result.is_error else "")
        expect(answer.get("error") == refused, f"it is refused as {refused}" if refused else "it succeeds")
        return answer

    async def correct(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await self.call(tool, arguments)
        self.corrected += 1
        return answer


def heading(text: str) -> None:
    print(f"\n## {text}\n")


def sent(text: str) -> None:
    print(textwrap.fill(text, 110, initial_indent="  -> ", subsequent_indent="     "))


def received(answer: Any, label: str = "") -> None:
    print(f"  <- {label}".rstrip())
    print(textwrap.indent(json.dumps(answer, indent=2, ensure_ascii=False), "     "), flush=True)


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise RuntimeError(f"Expected that {what}.")


async def converse(address: str) -> Demo:
    print(
        f"The example site is up at {address}; the official client speaks MCP {REVISION} with it.", flush=True
    )
    demo = Demo()
    options: Any = {"mode": REVISION, "read_timeout_seconds": 60, "elicitation_callback": demo.consent}
    async with Client(f"{address}/mcp", **options) as demo.client:
        await demo.run()
        return demo


def leave(number: int, frame: Any) -> NoReturn:
    sys.exit(128 + number)


def main() -> None:
    # Ended from outside, the demo still takes the site down with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    # The site is on this machine, whatever proxy the environment names.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with running("gunicorn", place) as address, worker(place):
            demo = asyncio.run(converse(address))
    print(f"\ndemo: {demo.corrected} calls corrected, {demo.asked} consented to, ok")


if __name__ == "__main__":
    main()
