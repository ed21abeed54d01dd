"""What this project answers, for the floor to be as large: `python -m benchmarks.answers FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.test import Client

from benchmarks.apps import own
from benchmarks.scenarios import SCENARIOS

__all__ = ["own", "results"]


def results() -> dict[str, dict[str, Any]]:
    """The results by scenario."""
    found = {}
    for scenario in SCENARIOS:
        headers = {key: value for key, value in scenario.headers().items() if key != "Content-Type"}
        response = Client().post(
            f"/{scenario.shape}",
            scenario.body(is_own=True),
            content_type="application/json",
            headers=headers,
        )
        scenario.check(response.status_code, response.content, is_own=True)
        found[scenario.name] = json.loads(response.content)["result"]
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(results()))
