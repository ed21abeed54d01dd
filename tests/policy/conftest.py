from __future__ import annotations

from contextlib import ExitStack

import pytest
from asgiref.sync import async_to_sync

from django_mcp import Tool, action, signals, testing
from tests.wire import members


@pytest.fixture
def clock():
    with testing.fake_clock() as fake:
        yield fake


@pytest.fixture
def heard():
    """What the signals say of calls, in order: name and fields."""
    told = []
    receivers = []
    for event in signals.EVENTS:

        def receive(signal, sender, *, name=event.name, **fields):
            told.append((name, fields))

        event.signal.connect(receive)
        receivers.append((event.signal, receive))
    yield told
    for signal, receive in receivers:
        signal.disconnect(receive)


#: Both kinds of handler under both drivers.
WAYS = {
    "def from a thread": (False, testing.run_tool),
    "def from a loop": (False, async_to_sync(testing.arun_tool)),
    "async def from a thread": (True, testing.run_tool),
    "async def from a loop": (True, async_to_sync(testing.arun_tool)),
}


class Served:
    """Tools with one action `buy`, each of a handler and a policy."""

    def __init__(self, stack, is_async, run):
        self._stack = stack
        self.is_async = is_async
        self._run = run

    def __call__(self, handle, policy=None, *, also=(), **options):
        """Serve `shop`, whose action `buy` calls `handle(data, ctx)`; the call comes back."""
        self._stack.enter_context(testing.served(shop(handle, policy, self.is_async, **options), *also))
        return self.call

    def call(self, tool="shop", ctx=None, answers=None, **data):
        result = self._run(tool, action="buy", data=data, ctx=ctx, answers=answers)
        return members(result) if "inputRequests" not in result else result


def shop(handle, policy, is_async=False, name="shop", **options):
    async def abuy(self, data, ctx):
        return handle(data, ctx)

    def buy(self, data, ctx):
        return handle(data, ctx)

    if policy is not None:
        options["policy"] = policy
    options = {"properties": {"n": {}, "m": {}}, **options}
    marked = action(description="Buy", **options)(abuy if is_async else buy)
    return type("Shop", (Tool,), {"__doc__": "A shop.", "name": name, "buy": marked})


@pytest.fixture(params=WAYS)
def serve(request):
    with ExitStack() as stack:
        yield Served(stack, *WAYS[request.param])


@pytest.fixture
def serve_sync():
    """Serve a `def` handler called from a thread, where the others are no different."""
    with ExitStack() as stack:
        yield Served(stack, *WAYS["def from a thread"])
