"""Tasks in the admin: to look at and to cancel."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from django_mcp.background.models import BackgroundTask
from django_mcp.background.store import OrmStore
from tests.background.test_store import record
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

LIST = "admin:django_mcp_background_backgroundtask_changelist"


@pytest.fixture
def staff(settings):
    settings.ROOT_URLCONF = "tests.background.urls"
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ]
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    return client


def keep(task_id, **fields):
    async_to_sync(OrmStore().create)(record(task_id, **fields))


def test_the_list_shows_how_every_task_stands_this_very_moment(staff):
    now = timezone.now()
    keep("waits")
    keep("works", worker="w", heartbeat_at=now)
    keep("stops", worker="w", heartbeat_at=now, cancel_requested=True)
    keep("gone", worker="w", heartbeat_at=now - timedelta(minutes=5))
    keep("done", status="completed", cancel_requested=True)
    page = staff.get(reverse(LIST)).content.decode()

    for state in ("waiting for a worker", "working", "being cancelled", "no sign of life for 5", "completed"):
        assert f'<td class="field-state">{state}' in page


def test_a_page_shows_neither_arguments_nor_results(staff):
    keep("1", result={"content": "the result"})
    page = staff.get(
        reverse("admin:django_mcp_background_backgroundtask_change", args=["1"])
    ).content.decode()

    assert "report" in page
    assert "the result" not in page
    assert "nested" not in page
    assert 'type="text"' not in page


def test_tasks_are_not_added_by_hand(staff):
    assert staff.get(reverse("admin:django_mcp_background_backgroundtask_add")).status_code == 403


def test_selected_tasks_are_cancelled(staff):
    keep("waits")
    keep("works", worker="w", heartbeat_at=timezone.now())
    keep("done", status="completed")
    selected = {"action": "cancel", "_selected_action": ["waits", "works", "done"]}
    page = staff.post(reverse(LIST), selected, follow=True).content.decode()

    assert "2 tasks are asked to stop." in page
    found = {task.task_id: (task.status, task.cancel_requested) for task in BackgroundTask.objects.all()}
    assert found == {
        "waits": ("cancelled", False),
        "works": ("working", True),
        "done": ("completed", False),
    }
