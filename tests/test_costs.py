"""What answering a request costs, counted: a clock would tell the same too late and not always."""

from __future__ import annotations

import sys
from collections import Counter
from functools import wraps
from pathlib import Path

import pytest
from django.db import connection
from django.http.request import HttpHeaders
from django.test import Client
from django.test.utils import CaptureQueriesContext

import django_mcp
from django_mcp import Tool, action, conf, testing, tool
from django_mcp.dispatch import transactions
from django_mcp.encoding import codec
from django_mcp.registry import catalog
from django_mcp.schema.closure import Closure
from django_mcp.schema.values import ValueGate
from tests.wire import Wire

PACKAGE = str(Path(django_mcp.__file__).parent)
PROPERTIES = {"name": {"type": "string"}, "count": {"type": "integer"}}
ITEMS = {"items": {"type": "array", "items": {"type": "object", "properties": PROPERTIES}}}


class Shop(Tool):
    """Sells things."""

    @action(description="Buy", properties=PROPERTIES)
    def buy(self, data, ctx):
        return data

    @action(description="Buy many", properties=ITEMS)
    def import_all(self, data, ctx):
        return {"imported": len(data["items"])}

    @action(description="Look", properties={}, read_only=True)
    def look(self, data, ctx):
        return {}


class Priced(Tool):
    """Tells prices."""

    output_schema = {"type": "object", "properties": {"price": {"type": "integer"}}}

    @action(description="Price", properties={})
    def price(self, data, ctx):
        return {"price": 1}


@tool(name="add")
def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


class Settings:
    """Django's settings, with every look at them counted."""

    def __init__(self, counts):
        self._counts = counts
        self._settings = conf.django_settings

    def __getattr__(self, name):
        self._counts["settings read"] += 1
        return getattr(self._settings, name)


@pytest.fixture
def counts(monkeypatch):
    """Counts from now on what is worth counting."""
    counts = Counter()

    def count(owner, name, label):
        original = getattr(owner, name)

        @wraps(original)
        def counting(*args, **kwargs):
            counts[label] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    count(codec, "decode", "decoded")
    count(codec, "encode", "encoded")
    count(codec, "text", "encoded")
    count(HttpHeaders, "__init__", "mapping of headers")
    count(Closure, "unknown", "walk for unknown keys")
    count(Closure, "integers", "walk for whole numbers")
    count(ValueGate, "problems", "problems gathered")
    count(ValueGate, "_explain", "schema explained")
    count(catalog, "build", "tool built")
    count(catalog, "Catalog", "catalog built")
    count(conf, "_build", "settings judged")
    count(transactions, "around", "transaction considered")
    monkeypatch.setattr(conf, "django_settings", Settings(counts))
    return counts


@pytest.fixture
def wire():
    return Wire(Client(), "/mcp")


@pytest.fixture
def cost(wire, counts, db):
    """Send a request that has been sent before, and tell what that costs."""

    def cost(method, params=None):
        before = wire.modern(method, params)
        for registration in catalog.catalog("default").registrations:
            for entry in (*registration.actions.values(), registration.typed):
                if entry is not None:
                    _judge(entry.gate, counts)
            if registration.output_gate is not None:
                _judge(registration.output_gate, counts)
        counts.clear()
        frames = 0

        def look(frame, event, arg):
            nonlocal frames
            frames += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

        with CaptureQueriesContext(connection) as queries:
            profiled = sys.getprofile()
            sys.setprofile(look)
            try:
                after = wire.modern(method, params)
            finally:
                sys.setprofile(profiled)
        assert after == before
        counts["query"] += len(queries)
        return +counts, frames

    with testing.served(Shop, Priced, add):
        yield cost


def _judge(gate, counts):
    judge = gate.is_valid

    def is_valid(value):
        counts["judged"] += 1
        return judge(value)

    gate.is_valid = is_valid


def call(action, data=None, tool="shop"):
    return {"name": tool, "arguments": {"action": action, **({} if data is None else {"data": data})}}


def calls(action, data=None, name="shop"):
    return "tools/call", {"name": name, "arguments": {"action": action, "data": {} if data is None else data}}


#: Read and written once: the id, the value, and the content that the value's text stands in.
CALL = {"decoded": 1, "encoded": 3}
REFUSAL = {"decoded": 1, "encoded": 4, "judged": 1, "walk for unknown keys": 1}


@pytest.mark.parametrize(
    ("method", "params", "counted", "most"),
    [
        # The list is encoded already, only the id is not.
        ("tools/list", None, {"decoded": 1, "encoded": 1}, 60),
        (
            *calls("buy", {"name": "x", "count": 1}),
            {**CALL, "judged": 1, "walk for whole numbers": 1, "transaction considered": 1},
            90,
        ),
        (*calls("look"), {**CALL, "judged": 1, "walk for whole numbers": 1}, 90),
        # The structured content is what the text is made of, and judged once more.
        (
            *calls("price", name="priced"),
            {**CALL, "judged": 2, "walk for whole numbers": 1, "transaction considered": 1},
            90,
        ),
        # Where the answer came from is written too.
        (
            "tools/call",
            {"name": "add", "arguments": {"a": 1}},
            {
                "decoded": 1,
                "encoded": 4,
                "judged": 2,
                "walk for whole numbers": 1,
                "transaction considered": 1,
            },
            100,
        ),
        (*calls("buy", {"name": "x", "z": 1}), REFUSAL, 130),
        (*calls("buy", {"name": 5}), {**REFUSAL, "problems gathered": 1}, 130),
        (*calls("sell"), {"decoded": 1, "encoded": 4}, 110),
        # The error is written with its envelope.
        ("tools/call", {"name": "nothing"}, {"decoded": 1, "encoded": 1}, 80),
    ],
)
def test_a_request_costs_what_it_must_and_no_more(cost, method, params, counted, most):
    spent, frames = cost(method, params)

    assert spent == counted
    # Python's own cost is that of calls, so these are bounded too; a few may come, not many.
    assert frames <= most


@pytest.mark.parametrize("many", [1, 1_000])
def test_what_many_items_cost_does_not_grow_with_them(cost, many):
    data = {"items": [{"name": "x", "count": 1}] * many}
    spent, frames = cost(*calls("import_all", data))

    assert spent == {**CALL, "judged": 1, "walk for whole numbers": 1, "transaction considered": 1}
    # The items are looked at, one call each at most.
    assert frames <= 90 + many
