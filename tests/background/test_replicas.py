"""A site that reads from a replica: what counts is read where it is written."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.utils import timezone

from django_mcp.background.models import SpentState
from django_mcp.background.store import OrmStore
from tests.background.test_store import Sync, record

# A query to the replica fails the test.
pytestmark = pytest.mark.django_db(databases=["default"])


class Replicated:
    """Writes go to the one database, reads to the other."""

    def db_for_read(self, model, **hints):
        return "other"

    def db_for_write(self, model, **hints):
        return "default"


@pytest.fixture(autouse=True)
def replicated(settings):
    settings.DATABASE_ROUTERS = [f"{__name__}.Replicated"]


def test_a_task_is_known_as_soon_as_it_is_kept():
    store = Sync(OrmStore())
    store.create(record("1"))
    assert store.get("1").worker == ""

    assert store.update("1", where={"worker": ""}, worker="w") is True
    assert store.get("1").worker == "w"


def test_a_consent_is_spent_once():
    assert [SpentState.objects.spend("n", 600) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            ["list", "--status", "failed"],
            "id  server  tool  action  owner  status  message  created  updated\n",
        ),
        (["cancel", "1"], "Task 1 is cancelled.\n"),
        (["prune"], "0 tasks are forgotten.\n"),
    ],
)
def test_commands_go_by_what_is_written(command, says):
    Sync(OrmStore()).create(record("1", created_at=timezone.now()))
    out = io.StringIO()
    call_command("mcp", "tasks", *command, stdout=out)

    assert out.getvalue() == says
