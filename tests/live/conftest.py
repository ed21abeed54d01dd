from __future__ import annotations

import pytest

from example_project.process import SERVERS, running


@pytest.fixture(scope="session", params=sorted(SERVERS))
def site(request, tmp_path_factory):
    """Address of the example site under a real server, with both views mounted."""
    folder = tmp_path_factory.mktemp(request.param)
    with running(request.param, folder, "tests.live.settings") as address:
        yield address


@pytest.fixture(params=["mcp", "amcp"])
def endpoint(site, request):
    """Address of the synchronous and of the asynchronous view."""
    return f"{site}/{request.param}"
