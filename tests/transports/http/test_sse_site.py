"""A stream among the rest of a site: its language and time zone, its middleware, its transactions."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, connections
from django.test import AsyncClient, Client
from django.utils import timezone, translation

from django_mcp import Tool, action, testing
from example_project.tracker.models import Project
from tests.transports.http.test_sse import call, done, events, progress, talk
from tests.wire import ACCEPT, implied, result, text

__all__ = ["talk"]

pytestmark = pytest.mark.django_db(transaction=True)


class Plain(Tool):
    name = "work"
    description = "Works."

    @action(description="Say where it is", properties={})
    def place(self, data, ctx):
        ctx.report_progress(1)
        return {"language": translation.get_language(), "zone": timezone.get_current_timezone_name()}

    @action(description="Report", properties={})
    def report(self, data, ctx):
        ctx.report_progress(1)
        return {"done": True}


class Awaited(Tool):
    name = "work"
    description = "Works."

    @action(description="Say where it is", properties={})
    async def place(self, data, ctx):
        ctx.report_progress(1)
        return {"language": translation.get_language(), "zone": timezone.get_current_timezone_name()}

    @action(description="Report", properties={})
    async def report(self, data, ctx):
        ctx.report_progress(1)
        return {"done": True}


@pytest.fixture(params=[Plain, Awaited])
def tool(request):
    with testing.served(request.param):
        yield


def test_the_language_and_the_time_zone_of_the_request_hold_for_its_call(tool, talk):
    with translation.override("de"), timezone.override("Europe/Berlin"):
        _, _, body = talk(call("place"))
    assert events(body)[-1] == result(text('{"language":"de","zone":"Europe/Berlin"}')).body


def test_what_a_plain_handler_awaits_runs_in_its_transaction(talk, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)

    class Bridges(Tool):
        name = "work"
        description = "Works."

        @action(description="Write by way of an event loop", properties={})
        def write(self, data, ctx):
            ctx.report_progress(1)

            async def create():
                await Project.objects.acreate(name="p")

            async_to_sync(create)()
            return {"seen": Project.objects.count(), "atomic": connection.in_atomic_block}

    with testing.served(Bridges):
        _, _, body = talk(call("write"))
    assert events(body)[-1] == result(text('{"seen":1,"atomic":true}')).body
    assert Project.objects.count() == 1


@pytest.mark.parametrize("path", ["/mcp", "/amcp"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_streams_pass_compression_and_what_a_new_project_installs(tool, settings, path, asynchronous):
    settings.MIDDLEWARE = [
        "django.middleware.gzip.GZipMiddleware",
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ]
    value = call("report")
    sent = {
        "data": value,
        "content_type": "application/json",
        "headers": {**implied(value), "Accept": ACCEPT, "Accept-Encoding": "gzip"},
    }

    async def apost():
        response = await AsyncClient().post(path, **sent)
        return response, b"".join([part async for part in response])

    if asynchronous:
        response, body = async_to_sync(apost)()
    else:
        response = Client().post(path, **sent)
        body = b"".join(response)
    # Compressed, events would be held back until there are enough of them.
    assert "Content-Encoding" not in response.headers
    assert events(body) == [progress(1), done()]


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("text/event-stream", True),
        ("application/json, Text/Event-Stream; q=0.5", True),
        ("application/json, text/event-stream;q=0", False),
        ("application/json, text/*", False),
    ],
)
def test_a_stream_needs_a_client_that_accepts_it(tool, talk, accept, streams):
    headers = {"Accept": accept if "json" in accept else f"{accept}, */*"}
    _, response, _ = talk(call("report"), **headers)
    assert response.streaming is streams
