"""Calls as spans and metrics, read from the SDK's in-memory exporters."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import async_to_sync
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from django_mcp import Axis, Breaker, Degradation, Policy, Retry, Tool, ToolError, action, errors, testing
from django_mcp.authoring.progress import Cancelled
from django_mcp.contrib import otel

TRACER = trace.get_tracer("site")
TENANT = Axis("otel_tenant")
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
RETRY = Policy(
    retry=Retry(attempts=2, base_delay=1, max_delay=1, jitter=False),
    breaker=Breaker(window=1, failure_threshold=1, reset_timeout=30),
    degradation=Degradation(lambda data, ctx: "stub"),
)


class Shop(Tool):
    """A shop."""

    provider: TracerProvider

    @action(description="Buy", properties={}, read_only=True)
    def buy(self, data, ctx):
        with self.provider.get_tracer("site").start_as_current_span("inside"):
            return 1

    @action(description="Buy", properties={}, read_only=True)
    async def abuy(self, data, ctx):
        with self.provider.get_tracer("site").start_as_current_span("inside"):
            await asyncio.sleep(0)
            return 1

    @action(description="Fail", properties={})
    def fail(self, data, ctx):
        raise ToolError("no lamp")

    @action(description="Break", properties={})
    async def crash(self, data, ctx):
        raise ValueError("bug")

    @action(description="Struggle", properties={}, policy=RETRY)
    async def struggle(self, data, ctx):
        raise errors.TransientError("busy")


class Reports(Tool):
    """Reports, written in the background."""

    @action(description="Write one", properties={}, background=True)
    def report(self, data, ctx):
        return 1

    @action(description="Write one", properties={}, background=True)
    async def areport(self, data, ctx):
        return 1


class Nobody:
    """A runner that leaves the work to the test."""

    in_process = True

    def start(self, task_id):
        pass


class Telemetry:
    def __init__(self):
        self.spans = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader])

    def finished(self, name):
        return [span for span in self.spans.get_finished_spans() if span.name == name]

    def metrics(self, name):
        """Attributes to value, of one instrument."""
        data = self.reader.get_metrics_data()
        return {
            tuple(
                sorted((key.removeprefix("django_mcp."), value) for key, value in point.attributes.items())
            ): (point.count if hasattr(point, "count") else point.value)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        }


@pytest.fixture
def telemetry():
    found = Telemetry()
    receiver = otel.connect(found.provider, found.meters)
    with testing.served(type("Shop", (Shop,), {"__doc__": "S.", "provider": found.provider})):
        yield found
    receiver.disconnect()
    found.meters.shutdown()
    found.provider.shutdown()


@pytest.fixture(params=["from a thread", "from a loop"])
def run(request):
    return testing.run_tool if request.param == "from a thread" else async_to_sync(testing.arun_tool)


def attributes(span):
    return {key.removeprefix("django_mcp."): value for key, value in span.attributes.items()}


@pytest.mark.parametrize("name", ["buy", "abuy"])
def test_a_call_is_a_span_with_what_the_handler_does_below_it(telemetry, run, name):
    with TENANT.use("acme"):
        run("shop", action=name)
    [span] = telemetry.finished(f"shop {name}")
    [inside] = telemetry.finished("inside")

    assert inside.parent.span_id == span.context.span_id
    assert span.parent is None
    assert attributes(span) == {
        "server": "default",
        "tool": "shop",
        "action": name,
        "request_id": "1",
        "status": "ok",
        "source": "live",
        "degraded": False,
        "attempts": 1,
        "axis.otel_tenant": "acme",
    }
    assert span.status.status_code is trace.StatusCode.UNSET
    assert trace.get_current_span() is trace.INVALID_SPAN


@pytest.mark.parametrize("is_async", [False, True])
def test_what_follows_a_cancelled_call_in_its_thread_does_not_stand_below_it(telemetry, is_async):
    def given_up(self, data, ctx):
        ctx.cancelled = True
        ctx.report_progress(1)

    async def agiven_up(self, data, ctx):
        given_up(self, data, ctx)

    marked = action(description="Give up", properties={})(agiven_up if is_async else given_up)
    members = {"__doc__": "S.", "go": marked, "provider": telemetry.provider}
    with testing.served(type("Shop", (Shop,), members)):
        with pytest.raises(Cancelled):
            testing.run_tool("shop", action="go")
        assert trace.get_current_span() is trace.INVALID_SPAN
        testing.run_tool("shop", action="buy")
    [cancelled] = telemetry.finished("shop go")
    [span] = telemetry.finished("shop buy")

    assert span.parent is None
    assert attributes(cancelled) == {
        "server": "default",
        "tool": "shop",
        "action": "go",
        "request_id": "1",
        "status": "cancelled",
    }
    assert cancelled.status.status_code is trace.StatusCode.UNSET
    assert sum(telemetry.metrics("django_mcp.calls").values()) == 1


@pytest.mark.parametrize("name", ["buy", "abuy"])
def test_the_parent_is_what_the_request_says(telemetry, run, name):
    run("shop", action=name, ctx=testing.build_context(meta={"traceparent": TRACEPARENT, "tracestate": 7}))
    [span] = telemetry.finished(f"shop {name}")

    assert f"{span.parent.trace_id:032x}" == TRACEPARENT.split("-")[1]
    assert f"{span.parent.span_id:016x}" == TRACEPARENT.split("-")[2]


@pytest.mark.parametrize("name", ["report", "areport"])
def test_the_work_of_a_task_stands_below_the_trace_of_its_request(telemetry, settings, name):
    tasks = {"STORE": "django_mcp.background.store.MemoryStore", "RUNNER": f"{__name__}.Nobody"}
    settings.DJANGO_MCP = {"TASKS": tasks}
    with testing.served(Reports):
        ctx = testing.build_context(meta={"traceparent": TRACEPARENT})
        testing.run_task(testing.run_tool("reports", action=name, ctx=ctx))
    spans = telemetry.finished(f"reports {name}")

    assert [span.attributes["django_mcp.request_id"] for span in spans] == ["1", "None"]
    assert [f"{span.parent.trace_id:032x}-{span.parent.span_id:016x}" for span in spans] == [
        TRACEPARENT[3:-3]
    ] * 2


async def test_else_the_parent_is_the_current_span_which_stays_current(telemetry):
    with telemetry.provider.get_tracer("site").start_as_current_span("request") as request:
        for _ in range(2):
            await testing.arun_tool("shop", action="abuy")
            assert trace.get_current_span() is request

    parents = {span.parent.span_id for span in telemetry.finished("shop abuy")}
    assert parents == {request.get_span_context().span_id}


def test_errors_refusals_and_faults_are_told_apart(telemetry, run):
    run("shop", action="fail")
    run("shop", action="crash")
    run("shop", action="invented by the caller")
    [failed], [crashed], [refused] = (
        telemetry.finished(name) for name in ("shop fail", "shop crash", "shop")
    )

    assert (attributes(failed)["status"], failed.status.status_code) == ("error", trace.StatusCode.ERROR)
    assert (attributes(crashed)["status"], attributes(crashed)["error.type"]) == ("fault", "ValueError")
    assert [event.name for event in crashed.events] == ["exception"]
    assert (attributes(refused)["status"], refused.status.status_code) == ("refused", trace.StatusCode.UNSET)
    assert telemetry.metrics("django_mcp.calls") == {
        (("action", "fail"), ("status", "error"), ("tool", "shop")): 1,
        (("action", "crash"), ("status", "fault"), ("tool", "shop")): 1,
        # A name of the caller's making is no name of a metric.
        (("status", "refused"), ("tool", "shop")): 1,
    }
    assert sum(telemetry.metrics("django_mcp.call.duration").values()) == 3


def test_what_policies_do_is_told(telemetry, run):
    with testing.fake_clock():
        run("shop", action="struggle")
        run("shop", action="struggle")
    first, second = telemetry.finished("shop struggle")

    assert [(event.name, dict(event.attributes)) for event in first.events] == [
        (
            "django_mcp.retry.backoff",
            {
                "django_mcp.backoff.delay": 1,
                "django_mcp.attempt.number": 2,
                "error.type": "TransientError",
            },
        ),
        (
            "django_mcp.circuit_breaker.transition",
            {
                "django_mcp.circuit_breaker.state.from": "closed",
                "django_mcp.circuit_breaker.state.to": "open",
            },
        ),
        ("django_mcp.degraded", {"error.type": "RetryExhausted"}),
    ]
    assert [event.name for event in second.events] == [
        "django_mcp.circuit_breaker.rejected",
        "django_mcp.degraded",
    ]
    assert (attributes(first)["attempts"], attributes(second)["attempts"]) == (2, 0)
    assert (attributes(first)["source"], attributes(first)["degraded"]) == ("stub", True)
    of = (("action", "struggle"), ("tool", "shop"))
    assert telemetry.metrics("django_mcp.retries") == {of: 1}
    assert telemetry.metrics("django_mcp.degradations") == {of: 2}
    state = ("circuit_breaker.state", "open")
    assert telemetry.metrics("django_mcp.circuit_breaker.rejections") == {(of[0], state, of[1]): 1}
    assert sum(telemetry.metrics("django_mcp.circuit_breaker.transitions").values()) == 1
    assert telemetry.metrics("django_mcp.attempts.outliving") == {(): 0}


def test_a_call_within_a_call_is_a_span_within_a_span(telemetry, run):
    class Outer(Tool):
        """Calls another tool."""

        @action(description="Call", properties={})
        def call(self, data, ctx):
            testing.run_tool("shop", action="fail")
            return 1

    with testing.served(Outer, type("Shop", (Shop,), {"__doc__": "S."})):
        run("outer", action="call")
    [inner], [outer] = telemetry.finished("shop fail"), telemetry.finished("outer call")

    assert inner.parent.span_id == outer.context.span_id


def test_a_call_that_began_before_is_counted_though_it_has_no_span(telemetry, run):
    class Opening(Tool):
        """Connects a receiver in the middle of its own call."""

        connect = staticmethod(lambda: None)

        @action(description="Open", properties={})
        def open(self, data, ctx):
            self.connect()
            return 1

        @action(description="Break", properties={}, policy=RETRY)
        def crash(self, data, ctx):
            self.connect()
            if data.get("x") is None:
                data["x"] = 1
            raise errors.TransientError

        @action(description="Break", properties={})
        def fault(self, data, ctx):
            self.connect()
            raise ValueError

        @action(description="Leave", properties={})
        def leave(self, data, ctx):
            self.connect()
            raise Cancelled

    other = Telemetry()
    receiver = otel.Receiver(other.provider, other.meters)
    tool = type("Opening", (Opening,), {"__doc__": "O.", "connect": staticmethod(receiver.connect)})
    telemetry_receiver = otel._connected[-1]
    telemetry_receiver.disconnect()
    with testing.served(tool), testing.fake_clock():
        for name in ("open", "crash", "fault"):
            run("opening", action=name)
            receiver.disconnect()
        with pytest.raises(Cancelled):
            run("opening", action="leave")
        receiver.disconnect()
    assert sum(other.metrics("django_mcp.calls").values()) == 3
    assert other.spans.get_finished_spans() == ()
    other.meters.shutdown()
    other.provider.shutdown()
