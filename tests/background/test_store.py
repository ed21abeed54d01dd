"""Every store keeps the same promises."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from django_mcp.background.models import BackgroundTask
from django_mcp.background.store import MemoryStore, OrmStore
from django_mcp.dispatch.tasks import Record


class Sync:
    """A store without its awaits."""

    def __init__(self, store):
        self.create = async_to_sync(store.create)
        self.get = async_to_sync(store.get)
        self.update = async_to_sync(store.update)


@pytest.fixture(params=[OrmStore, MemoryStore])
def store(request, db):
    return Sync(request.param())


def record(task_id="1", **fields):
    now = timezone.now()
    base = {
        "task_id": task_id,
        "server": "default",
        "tool": "report",
        "action": None,
        "arguments": {"z": 10**30, "a": "\x00é", "nested": {"b": [1.5, None, True]}},
        "owner": "auth.user:1",
        "created_at": now,
        "last_updated_at": now,
    }
    return Record(**{**base, **fields})


def test_a_task_is_had_back_as_it_was(store):
    now = timezone.now()
    kept = record(
        action="write",
        axes={"tenant": "a"},
        locale={"language": "de", "time_zone": 120},
        trace={"baggage": "a\0"},
        capabilities={"elicitation": {}},
        status_message="working on it",
        answers={"q": {"action": "accept"}},
        questions={"q-2": {"key": "q", "request": {}}},
        asked=["q", "q-2"],
        result={"content": []},
        error={"code": 1},
        worker="w",
        ticket="7",
        heartbeat_at=now,
        cancel_requested=True,
        created_at=now,
        expires_at=now + timedelta(days=1),
    )
    store.create(kept)

    assert store.get("1") == kept
    assert list(store.get("1").arguments) == ["z", "a", "nested"]
    assert store.get("1").ttl_ms == 86_400_000


def test_what_is_not_set_is_none(store):
    store.create(record())

    found = store.get("1")
    assert (found.action, found.status_message, found.result, found.error) == (None, None, None, None)
    assert found.ttl_ms is None


def test_an_unknown_id_is_none_and_cannot_be_changed(store):
    assert store.get("1") is None
    assert store.update("1", status="completed") is False


def test_a_change_is_stamped_and_leaves_the_rest(store):
    before = timezone.now() - timedelta(seconds=1)
    store.create(record(status_message="before", last_updated_at=before))

    assert store.update("1", result={"n": 1}) is True
    found = store.get("1")
    assert (found.status, found.status_message, found.result, found.version) == (
        "working",
        "before",
        {"n": 1},
        1,
    )
    assert found.last_updated_at > before


def test_a_change_may_depend_on_what_is_there(store):
    store.create(record())

    assert store.update("1", where={"worker": "", "status": "working"}, worker="w") is True
    assert store.update("1", where={"worker": "", "status": "working"}, worker="v") is False
    assert store.update("1", where={"cancel_requested": True}, worker="v") is False
    assert store.get("1").worker == "w"


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_what_is_settled_stays_as_it_is(store, status):
    store.create(record())
    store.update("1", status=status)

    assert store.update("1", status="working") is False
    assert store.update("1", status_message="late progress") is False
    assert (store.get("1").status, store.get("1").status_message) == (status, None)


def test_what_is_expired_is_unknown_and_does_not_come_back(store):
    store.create(record())
    store.update("1", status="input_required", expires_at=timezone.now() - timedelta(seconds=1))

    assert store.get("1") is None
    assert store.update("1", status="working", expires_at=None) is False


def test_what_has_no_end_never_expires(store):
    store.create(record(created_at=timezone.now() - timedelta(days=1000)))

    assert store.get("1") is not None


def test_what_is_expired_goes_when_something_new_comes(db):
    store = Sync(OrmStore())
    store.create(record("1"))
    store.update("1", status="completed", expires_at=timezone.now() - timedelta(seconds=1))
    store.create(record("2"))

    assert [str(task) for task in BackgroundTask.objects.all()] == ["2"]


def test_so_it_is_in_memory():
    memory = MemoryStore()
    store = Sync(memory)
    store.create(record("1"))
    store.update("1", status="completed", expires_at=timezone.now() - timedelta(seconds=1))
    store.create(record("2"))

    assert list(memory._records) == ["2"]
