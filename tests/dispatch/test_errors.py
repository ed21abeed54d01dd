"""What a handler raises tells the caller what to do next."""

from __future__ import annotations

import logging

import pytest
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404

from django_mcp import Tool, ToolError, action, errors, testing


class Failing(Tool):
    """Fails."""

    raised: BaseException = Exception()

    @action(description="Fail", properties={})
    def now(self, data, ctx):
        raise self.raised

    @action(description="Fail late", properties={})
    async def late(self, data, ctx):
        raise self.raised


@pytest.fixture(params=["now", "late"])
def fail(run, request):
    """Raise an exception from a def and an async def handler; the whole result comes back."""

    def call(raised):
        with testing.served(type("F", (Failing,), {"name": "failing", "description": "F", "raised": raised})):
            return run("failing", {"action": request.param})

    return call


def answer(text, code, retryable, **meta):
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {"django_mcp.error": code, "django_mcp.retryable": retryable, **meta},
    }


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (
            errors.CircuitOpen("shop down", retry_after=4.56789),
            answer(
                "shop down\nThe circuit breaker is open; wait about 4.6 seconds before you call again.",
                "circuit_open",
                True,
                **{"django_mcp.retry_after_s": 4.568},
            ),
        ),
        (
            errors.CircuitOpen("shop down"),
            answer(
                "shop down\nThe circuit breaker is open and waits for a probe; do not call again at once.",
                "circuit_open",
                True,
            ),
        ),
        (
            errors.DeadlineExceeded("late"),
            answer("late\nIt took too long; calling again may work.", "timeout", True),
        ),
        (
            errors.AttemptTimeout("late"),
            answer("late\nIt took too long; calling again may work.", "timeout", True),
        ),
        (
            errors.RetryExhausted("gave up", attempts=3, last_error=OSError("x")),
            answer(
                "gave up\nIt was tried 3 times already; wait before you call again.",
                "retry_exhausted",
                True,
                **{"django_mcp.attempts": 3},
            ),
        ),
        (
            errors.ComponentUnavailable("no printer"),
            answer(
                "no printer\nSomething it needs is not available now; call again later.", "unavailable", True
            ),
        ),
        (
            errors.TransientError("busy"),
            answer("busy\nThis passes by itself; calling again is safe.", "transient", True),
        ),
        (
            errors.PermanentError("closed account"),
            answer("closed account\nDo not repeat the call with the same arguments.", "permanent", False),
        ),
        (errors.TransientError(), answer("This passes by itself; calling again is safe.", "transient", True)),
    ],
)
def test_each_error_of_the_taxonomy_has_its_code_and_its_hint(fail, raised, expected):
    assert fail(raised) == expected


def test_a_message_is_not_cut_but_made_sendable(fail):
    text = f"{'x' * 1000} \udcff"
    assert fail(errors.PermanentError(text))["content"][0]["text"].startswith(f"{'x' * 1000} ?\n")
    assert fail(ToolError("bad \udcff"))["content"][0]["text"] == "Operation failed: bad ?"


@pytest.mark.parametrize(
    ("raised", "code", "retryable"),
    [
        (OperationalError("SELECT secret"), "transient", True),
        (InterfaceError("closed"), "transient", True),
        (ValidationError("x"), "permanent", False),
        (PermissionDenied("x"), "permanent", False),
        (ObjectDoesNotExist("x"), "permanent", False),
        (Http404("x"), "permanent", False),
        (IntegrityError("x"), "error", False),
        (TimeoutError("x"), "error", False),
        (ValueError("x"), "error", False),
        (ExceptionGroup("x", [errors.TransientError()]), "error", False),
    ],
)
def test_other_exceptions_are_faults_coded_by_what_is_known_of_them(fail, raised, code, retryable):
    result = fail(raised)
    assert result["_meta"] == {"django_mcp.error": code, "django_mcp.retryable": retryable}
    assert '"errorType":"tool_fault"' in result["content"][0]["text"]
    assert "SELECT" not in result["content"][0]["text"]


def by_site(raised):
    if isinstance(raised, ConnectionResetError):
        return "transient"
    if isinstance(raised, OperationalError):
        return "permanent"
    if isinstance(raised, KeyError):
        return "whatever"
    if isinstance(raised, IndexError):
        raise raised
    return None


@pytest.mark.parametrize(
    ("raised", "code", "complaints"),
    [
        (ConnectionResetError("x"), "transient", 0),
        (OperationalError("x"), "permanent", 0),
        (Http404("x"), "permanent", 0),
        (ValueError("x"), "error", 0),
        (KeyError("x"), "error", 1),
        (IndexError("x"), "error", 1),
    ],
)
def test_a_site_classifies_exceptions_of_its_own(fail, settings, caplog, raised, code, complaints):
    settings.DJANGO_MCP = {"CLASSIFIER": f"{__name__}.by_site"}
    assert fail(raised)["_meta"]["django_mcp.error"] == code
    told = [record for record in caplog.records if record.getMessage().startswith("The classifier")]
    assert [record.levelno for record in told] == [logging.ERROR] * complaints


def test_a_taxonomy_error_is_no_fault_and_is_announced_as_an_error_of_the_tool(run):
    from django_mcp import signals

    heard = []
    signals.tool_stopped.connect(receiver := lambda **fields: heard.append(fields["error_kind"]))
    tool = type("F", (Failing,), {"name": "f", "description": "F", "raised": errors.PermanentError("x")})
    with testing.served(tool):
        run("f", {"action": "now"})
    signals.tool_stopped.disconnect(receiver)
    assert heard == ["tool"]
