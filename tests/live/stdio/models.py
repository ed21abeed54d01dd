"""No models, but a word too much."""

from __future__ import annotations

print("printed by a model's module")  # noqa: T201
