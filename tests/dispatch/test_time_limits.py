"""How long the calls of a server, an action and a typed tool may take."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import async_to_sync

from django_mcp import Tool, Toolset, action, testing, tool
from django_mcp.registry.catalog import findings
from tests.typed.tools import made
from tests.wire import members, text

#: Beside which nothing that a test does takes any time.
SOON, LATER = 0.001, 3600


async def wait() -> str:
    """Wait."""
    await asyncio.Event().wait()
    return "never"


class Waits(Toolset):
    timeout = SOON

    @tool
    async def short(self) -> str:
        """Wait."""
        return await wait()

    @tool(timeout=LATER)
    async def quick(self) -> str:
        """Answer."""
        return "done"


class Actions(Tool):
    """Actions."""

    @action(description="Wait", timeout=SOON)
    async def typed(self) -> str:
        return await wait()

    @action(description="Answer", properties={}, timeout=LATER)
    async def patient(self, data, ctx):
        await asyncio.sleep(SOON * 10)
        return "done"

    @action(description="Wait", properties={})
    async def unlimited(self, data, ctx):
        await wait()

    @action(description="Nothing interrupts it", properties={})
    def plain(self, data, ctx):
        return "done"


FUNCTION = made(wait, name="wait", timeout=SOON)
OVER = text(
    f"The call took longer than {SOON} seconds.\nIt took too long; calling again may work.",
    is_error=True,
    meta={"django_mcp.error": "timeout", "django_mcp.retryable": True},
)


@pytest.fixture(params=[testing.run_tool, async_to_sync(testing.arun_tool)], ids=["sync", "async"])
def run(request):
    def run(name, action=None, **options):
        with testing.served(FUNCTION, Waits, Actions):
            return members(request.param(name, action=action, **options))

    return run


@pytest.mark.parametrize("called", [("wait",), ("waits__short",), ("actions", "typed")])
def test_a_typed_tool_may_have_a_limit_of_its_own_or_its_class_s(run, called):
    assert run(*called) == OVER


def test_a_method_s_own_limit_is_the_one_that_counts(run):
    assert testing.structured(run("waits__quick")) == {"result": "done"}


def test_a_limit_is_that_of_its_server_and_of_what_has_none_of_its_own(run, settings):
    settings.DJANGO_MCP = {"CALL_TIMEOUT": LATER, "SERVERS": {"hasty": {"CALL_TIMEOUT": SOON}}}
    hasty = {"ctx": testing.build_context(server="hasty")}

    assert run("actions", "unlimited", **hasty) == OVER
    assert testing.text(run("actions", "patient", **hasty)) == '"done"'
    assert testing.text(run("actions", "plain", **hasty)) == '"done"'


def test_on_a_plain_function_it_is_refused():
    def plain() -> str:
        """Answer."""
        return "done"

    with testing.served(made(plain, name="plain", timeout=SOON)):
        found = [(finding.offence.rule, finding.offence.message) for finding in findings()]
    assert found == [
        ("timeout-sync", "timeout stands on a handler that is not async; nothing interrupts it.")
    ]
