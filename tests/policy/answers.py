"""What calls of the tests answer."""

from __future__ import annotations

import json


def ok(value, *, source="live", degraded=False, attempts=1):
    return {
        "content": [{"type": "text", "text": json.dumps(value, separators=(",", ":"))}],
        "isError": False,
        "_meta": {
            "django_mcp.source": source,
            "django_mcp.degraded": degraded,
            "django_mcp.attempts": attempts,
        },
    }


def error(text, code, retryable, **meta):
    meta = {f"django_mcp.{key}": value for key, value in meta.items()}
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {"django_mcp.error": code, "django_mcp.retryable": retryable, **meta},
    }


def code(result):
    return result["_meta"].get("django_mcp.error")


class Script:
    """A handler that does one thing after another: raises what is an exception, returns anything else."""

    def __init__(self, *steps):
        self._steps = list(steps)
        self.calls = 0

    def __call__(self, data, ctx):
        self.calls += 1
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if callable(step) and not isinstance(step, (BaseException, type)):
            step = step(data, ctx)
        if isinstance(step, BaseException):
            raise step
        return step
