from __future__ import annotations

import io
import json
import re

import pytest
from django.core.management import call_command

from example_project.tracker.models import Project, Task


def printed(*command):
    output = io.StringIO()
    call_command(*command, stdout=output)
    return output.getvalue()


@pytest.mark.django_db
def test_seeding_twice_is_seeding_once():
    assert printed("seed") == "7 tasks created, 0 were there already.\n"
    before = (list(Project.objects.values()), list(Task.objects.values()))

    assert printed("seed") == "0 tasks created, 7 were there already.\n"

    assert (list(Project.objects.values()), list(Task.objects.values())) == before
    assert Task.objects.overdue().count() == 2
    assert Task.objects.filter(status=Task.Status.DONE).count() == 2


def test_client_configuration_is_ready_to_paste():
    text = printed("clients", "http://127.0.0.1:8000/mcp", "--name", "tracker")

    assert "claude mcp add --transport http tracker http://127.0.0.1:8000/mcp\n" in text
    documents = [json.loads(document) for document in re.findall(r"^\{$.*?^\}$", text, re.M | re.S)]
    assert documents == [
        {"mcpServers": {"tracker": {"url": "http://127.0.0.1:8000/mcp"}}},
        {"servers": {"tracker": {"type": "http", "url": "http://127.0.0.1:8000/mcp"}}},
    ]
