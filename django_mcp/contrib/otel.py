"""Calls as OpenTelemetry spans and metrics, made of the signals alone. Needs the extra `otel`.

A span lasts from `tool_started` to `tool_stopped`, `tool_failed` or `tool_cancelled`; what the handler does
stands below it. A cancelled call has no answer, so no metric counts it. Its parent is what the request's
`_meta` names (W3C `traceparent`), else the span that is current. Names of the caller's making never become
names or attributes of metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from django.dispatch import Signal
from opentelemetry import context, metrics, propagate, trace

from django_mcp import __version__, signals
from django_mcp.policy import axes, timeout

_SCOPE: Final = "django_mcp"
_SOURCE: Final = "django_mcp.source"
_DEGRADED: Final = "django_mcp.degraded"


@dataclass(frozen=True, slots=True)
class _Call:
    """A call whose span is open, and what was current before it."""

    span: trace.Span
    before: context.Context
    outer: _Call | None


_current: ContextVar[_Call | None] = ContextVar("django_mcp_otel_call", default=None)


class Receiver:
    """Receives the signals for one tracer and one meter, by default those of the global providers."""

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        self._tracer = trace.get_tracer(_SCOPE, __version__, tracer_provider)
        meter = metrics.get_meter(_SCOPE, __version__, meter_provider)
        self._calls = meter.create_counter("django_mcp.calls", "{call}", "Calls that were answered.")
        self._duration = meter.create_histogram("django_mcp.call.duration", "s", "How long calls take.")
        self._retries = meter.create_counter("django_mcp.retries", "{attempt}", "Attempts after a failure.")
        self._degraded = meter.create_counter(
            "django_mcp.degradations", "{call}", "Calls answered by a stand-in."
        )
        self._rejections = meter.create_counter(
            "django_mcp.circuit_breaker.rejections", "{rejection}", "Calls a circuit breaker kept away."
        )
        self._transitions = meter.create_counter(
            "django_mcp.circuit_breaker.transitions", "{transition}", "Changes of circuit breakers."
        )
        meter.create_observable_gauge(
            "django_mcp.attempts.outliving",
            [lambda _: [metrics.Observation(timeout.outliving())]],
            "{attempt}",
            "Sync handlers that run although their time is over.",
        )
        self._receivers: dict[Signal, Callable[..., None]] = {
            signals.tool_started: self._started,
            signals.tool_stopped: self._stopped,
            signals.tool_failed: self._failed,
            signals.tool_cancelled: self._cancelled,
            signals.attempt_retried: self._retried,
            signals.breaker_rejected: self._rejected,
            signals.breaker_changed: self._changed,
            signals.call_degraded: self._stood_in,
        }

    def connect(self) -> None:
        """Receive from now on."""
        for signal, receive in self._receivers.items():
            signal.connect(receive)

    def disconnect(self) -> None:
        """Receive no more."""
        for signal, receive in self._receivers.items():
            signal.disconnect(receive)

    def _started(self, **fields: Any) -> None:
        before = context.get_current()
        parent = propagate.extract(fields["trace"], before)
        span = self._tracer.start_span(
            fields["tool"],
            parent,
            attributes={
                "django_mcp.server": fields["server"],
                "django_mcp.tool": fields["tool"],
                "django_mcp.request_id": str(fields["request_id"]),
            },
        )
        _current.set(_Call(span, before, _current.get()))
        context.attach(trace.set_span_in_context(span, parent))

    def _stopped(self, *, is_error: bool, error_kind: str | None, **fields: Any) -> None:
        refused = error_kind == "dispatch"
        names = _names({**fields, "action": None} if refused else fields)
        outcome = {
            _SOURCE: fields["source"],
            _DEGRADED: fields["degraded"],
            "django_mcp.attempts": fields["attempts"],
        }
        status = "refused" if refused else "error" if is_error else "ok"
        self._finish(names, status, fields["duration"], outcome)

    def _failed(self, *, crash_reason: BaseException, **fields: Any) -> None:
        call = _current.get()
        if call is not None:
            call.span.record_exception(crash_reason)
        outcome = {"error.type": fields["exception"]}
        self._finish(_names(fields), "fault", fields["duration"], outcome)

    def _finish(
        self, names: dict[str, str], status: str, duration: float, outcome: Mapping[str, Any]
    ) -> None:
        told = {**names, "django_mcp.status": status}
        # An error came from nowhere.
        came = {key: outcome[key] for key in (_SOURCE, _DEGRADED)} if status == "ok" else {}
        self._calls.add(1, {**told, **came})
        self._duration.record(duration, told)
        _end(names, status, outcome)

    def _cancelled(self, **fields: Any) -> None:
        """Nobody got an answer, so none is counted."""
        _end(_names(fields), "cancelled", {})

    def _retried(self, **fields: Any) -> None:
        self._retries.add(1, _names(fields))
        _event(
            "django_mcp.retry.backoff",
            {
                "django_mcp.backoff.delay": fields["delay"],
                "django_mcp.attempt.number": fields["attempt"] + 1,
                "error.type": fields["exception"],
            },
        )

    def _rejected(self, *, state: str, **fields: Any) -> None:
        told = {"django_mcp.circuit_breaker.state": state}
        self._rejections.add(1, {**_names(fields), **told})
        _event("django_mcp.circuit_breaker.rejected", told)

    def _changed(self, *, previous: str, state: str, **fields: Any) -> None:
        told = {
            "django_mcp.circuit_breaker.state.from": previous,
            "django_mcp.circuit_breaker.state.to": state,
        }
        self._transitions.add(1, {**_names(fields), **told})
        _event("django_mcp.circuit_breaker.transition", told)

    def _stood_in(self, **fields: Any) -> None:
        self._degraded.add(1, _names(fields))
        _event("django_mcp.degraded", {"error.type": fields["exception"]})


def connect(
    tracer_provider: trace.TracerProvider | None = None, meter_provider: metrics.MeterProvider | None = None
) -> Receiver:
    """Turn calls into spans and metrics from now on; to be called once, when the site starts."""
    receiver = Receiver(tracer_provider, meter_provider)
    receiver.connect()
    # Signals hold their receivers weakly.
    _connected.append(receiver)
    return receiver


_connected: Final[list[Receiver]] = []


def _names(fields: Mapping[str, Any]) -> dict[str, str]:
    named = {"django_mcp.tool": fields["tool"], "django_mcp.action": fields["action"]}
    return {name: value for name, value in named.items() if value is not None}


def _end(names: dict[str, str], status: str, outcome: Mapping[str, Any]) -> None:
    """End the span of the current call, if it has one."""
    call = _current.get()
    if call is None:
        return
    tenants = {f"django_mcp.axis.{name}": value for name, value in axes.snapshot().items()}
    call.span.update_name(" ".join(names.values()))
    call.span.set_attributes({**names, "django_mcp.status": status, **outcome, **tenants})
    if status in ("error", "fault"):
        call.span.set_status(trace.StatusCode.ERROR)
    call.span.end()
    # Not by its token, which holds in one context only: a call may end in another thread than it began.
    _current.set(call.outer)
    context.attach(call.before)


def _event(name: str, attributes: Mapping[str, Any]) -> None:
    call = _current.get()
    if call is not None:
        call.span.add_event(name, attributes)
