"""Typed tools whose work is done in the background."""

from __future__ import annotations

import asyncio

import pytest
from django.core.cache import cache
from jsonschema import Draft202012Validator
from pydantic import BaseModel, SecretStr

from django_mcp import Cache, Context, Policy, ToolError, Toolset, report_progress, testing, tool
from tests.background.conftest import Poller
from tests.typed.tools import made
from tests.wire import members, text

pytestmark = pytest.mark.usefixtures("in_memory")

LIVE = {"django_mcp.source": "live", "django_mcp.degraded": False}
RECEIPT = {"type": "object", "properties": {"task_id": {"type": "string"}}, "required": ["task_id"]}
POLL = "Starts a background task and answers with a task_id at once; poll task_status with it, then fetch task_result."


class Page(BaseModel):
    number: int
    pin: SecretStr
    next: Page | None = None


def page(number: int) -> Page:
    """A page."""
    report_progress(1, message="turned")
    return Page(number=number, pin="1234")


async def title(number: int) -> str:
    """The title of a page."""
    await asyncio.sleep(0)
    return f"Page {number}"


def names() -> list[str]:
    """All names."""
    return ["a", "b"]


def heading() -> str:
    """A heading."""
    return "7"


PAGE, TITLE, NAMES, HEADING = (
    made(one, name=one.__name__, background=True) for one in (page, title, names, heading)
)


class Letters(Toolset):
    """Letters."""

    background = True

    @tool(description="Write one")
    def write(self, to: str, ctx: Context) -> str:
        return f"To {to}, by {ctx.task and 'a task'}"

    def before_submit(self, action, data, ctx):
        if data["to"] == "nobody":
            raise ToolError("a letter needs a reader")


def schema(*tools):
    """What task_result publishes."""
    with testing.served(*tools):
        from django_mcp.registry.catalog import catalog

        whole = catalog("default").whole
        return whole.definition(whole.get("task_result"))["outputSchema"]


def work(declared, name, **arguments):
    """The status and the result of a call's work."""
    client = Poller()
    with testing.served(declared):
        receipt = client.call(name, arguments)
        task_id = receipt["structuredContent"]["task_id"]
        assert members(receipt) == {
            **text(f'{{"task_id":"{task_id}"}}'),
            "structuredContent": {"task_id": task_id},
            "_meta": {},
        }
        return client.result(task_id), client.status(task_id)


def test_an_object_is_wrapped_once_and_its_secrets_are_masked():
    result, status = work(PAGE, "page", number=7)

    value = {"number": 7, "pin": "**********", "next": None}
    assert members(result) == {
        **text('{"number":7,"pin":"**********","next":null}', meta=LIVE),
        "structuredContent": {"result": value},
    }
    assert (status["status"], status["message"]) == ("completed", "turned")
    assert Draft202012Validator(schema(PAGE)).is_valid(result["structuredContent"])


@pytest.mark.parametrize(
    ("declared", "name", "arguments", "shown", "value"),
    [
        (TITLE, "title", {"number": 7}, "Page 7", "Page 7"),
        (HEADING, "heading", {}, "7", "7"),
        (NAMES, "names", {}, '["a","b"]', ["a", "b"]),
    ],
)
def test_what_is_no_object_is_not_wrapped_twice(declared, name, arguments, shown, value):
    result, _ = work(declared, f"{name}", **arguments)

    assert members(result) == {**text(shown, meta=LIVE), "structuredContent": {"result": value}}
    assert Draft202012Validator(schema(declared)).is_valid(result["structuredContent"])


def test_a_toolset_may_look_first():
    client = Poller()
    with testing.served(Letters):
        refused = client.call("letters__write", {"to": "nobody"})
        result = client.result(client.submit("letters__write", {"to": "Ada"}))

    assert testing.error_text(refused) == "Operation failed: a letter needs a reader"
    assert testing.structured(result) == {"result": "To Ada, by a task"}


def test_wrong_arguments_make_no_task():
    with testing.served(PAGE):
        refused = Poller().call("page", {"number": "seven"})

    assert testing.error_json(refused)["error"] == "invalid_values"


def test_the_tool_publishes_its_receipt_and_says_how_to_poll():
    with testing.served(TITLE):
        from django_mcp.registry.catalog import catalog

        whole = catalog("default").whole
        definition = whole.definition(whole.get("title"))

    assert definition["description"] == f"The title of a page. {POLL}"
    assert definition["outputSchema"] == RECEIPT


def test_results_of_one_type_are_published_as_it_is():
    assert schema(TITLE)["properties"] == {"result": {"type": "string"}}
    assert schema(TITLE, HEADING) == schema(TITLE)


def test_results_of_several_types_are_one_of_them():
    published = schema(TITLE, NAMES)["properties"]["result"]

    assert published == {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def test_definitions_of_several_do_not_get_in_each_other_s_way():
    published = schema(TITLE, PAGE)

    assert list(published["$defs"]) == ["page.Page"]
    checker = Draft202012Validator(published)
    pin = "**********"
    assert checker.is_valid({"result": {"number": 1, "pin": pin, "next": {"number": 2, "pin": pin}}})
    assert not checker.is_valid({"result": {"number": 1, "pin": pin, "next": {"number": "two", "pin": pin}}})


def test_a_result_from_the_cache_is_wrapped_once():
    def letters() -> list[str]:
        """All letters."""
        return ["a", "b"]

    kept = made(letters, name="letters", background=True, read_only=True, policy=Policy(cache=Cache(ttl=60)))
    cache.clear()
    with testing.served(kept):
        client = Poller()
        results = [client.result(client.submit("letters")) for _ in range(2)]

    assert [one["_meta"]["django_mcp.source"] for one in results] == ["live", "cache"]
    assert [one["structuredContent"] for one in results] == [{"result": ["a", "b"]}] * 2
