from __future__ import annotations

from tests.wire import wire

__all__ = ["wire"]
