from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from django_mcp import testing
from example_project.tracker.models import Task
from tests.factories import ProjectFactory, TaskFactory

pytestmark = pytest.mark.django_db


def call(action, **data):
    """What a caller gets: whether it is an error, and the JSON or else the text."""
    result = testing.run_tool("tasks", {"action": action, "data": data})
    text = result["content"][0]["text"]
    return result["isError"], json.loads(text) if text.startswith("{") else text


def hint(action, description, **data):
    return {"tool": "tasks", "action": action, "description": description, "example": {"data": data}}


def test_creating_a_task_answers_with_it_and_hints_at_what_comes_next():
    ProjectFactory(name="Website")

    is_error, answer = call("create", project="Website", title="Draw the logo", due="2999-01-31")

    task = Task.objects.get()
    assert (task.project.name, task.title, task.due) == ("Website", "Draw the logo", date(2999, 1, 31))
    assert (is_error, answer) == (
        False,
        {
            "task": {
                "id": task.pk,
                "project": "Website",
                "title": "Draw the logo",
                "status": "open",
                "due": "2999-01-31",
                "overdue": False,
                "completed_at": None,
            },
            "hints": [
                hint("get", "View the created task", id=task.pk),
                hint("list", "List the project's tasks", project="Website"),
            ],
            "context": {"overdue_tasks": 0},
        },
    )


@pytest.mark.parametrize("due", [{}, {"due": None}], ids=["left out", "null"])
def test_a_task_needs_no_due_day(due):
    project = ProjectFactory()

    assert call("create", project=project.name, title="Some day", **due)[0] is False

    assert Task.objects.get().due is None


def test_a_title_the_project_already_has_is_refused():
    task = TaskFactory(project__name="Website", title="Draw the logo")

    assert call("create", project="Website", title="Draw the logo") == (
        True,
        f"Operation failed: Website already has the task 'Draw the logo': its id is {task.pk}",
    )


def test_an_unknown_project_is_refused_with_those_there_are():
    ProjectFactory(name="Website")
    ProjectFactory(name="Office move")

    assert call("create", project="Webseite", title="Draw the logo") == (
        True,
        "Operation failed: there is no project 'Webseite', only Office move, Website",
    )


def test_listing_shows_a_page_and_hints_at_the_next():
    tasks = TaskFactory.create_batch(3)

    is_error, answer = call("list", page_size=2)

    assert is_error is False
    assert [task["id"] for task in answer["tasks"]] == [tasks[0].pk, tasks[1].pk]
    assert (answer["total"], answer["page"], answer["pages"]) == (3, 1, 2)
    assert answer["hints"] == [
        hint("get", "View the first of them", id=tasks[0].pk),
        hint("list", "List the next page", page=2, page_size=2),
    ]


def test_listing_nothing_hints_at_nothing():
    assert call("list") == (
        False,
        {"tasks": [], "total": 0, "page": 1, "pages": 1, "context": {"overdue_tasks": 0}},
    )


def test_a_page_past_the_end_is_refused_with_the_last():
    TaskFactory()

    assert call("list", page=2) == (True, "Operation failed: there is no page 2; the last is 1")


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        ({}, ["late", "done late", "soon", "elsewhere"]),
        ({"project": "Website"}, ["late", "done late", "soon"]),
        ({"status": "open"}, ["late", "soon", "elsewhere"]),
        ({"status": "done"}, ["done late"]),
        ({"overdue": True}, ["late", "elsewhere"]),
        ({"overdue": False}, ["done late", "soon"]),
        ({"overdue": True, "project": "Website"}, ["late"]),
    ],
)
def test_filters_narrow_each_other_down(filters, titles):
    website = ProjectFactory(name="Website")
    TaskFactory(project=website, title="late", overdue=True)
    TaskFactory(project=website, title="done late", overdue=True, done=True)
    TaskFactory(project=website, title="soon", due=timezone.localdate() + timedelta(days=1))
    TaskFactory(title="elsewhere", overdue=True)

    assert [task["title"] for task in call("list", **filters)[1]["tasks"]] == titles


def test_an_open_task_is_shown_with_a_hint_to_complete_it():
    task = TaskFactory(overdue=True)

    is_error, answer = call("get", id=task.pk)

    assert is_error is False
    assert (answer["task"]["id"], answer["task"]["overdue"]) == (task.pk, True)
    assert answer["hints"] == [hint("complete", "Mark it as done", id=task.pk)]
    assert answer["context"] == {"overdue_tasks": 1}


def test_a_done_task_is_shown_without_hints():
    assert "hints" not in call("get", id=TaskFactory(done=True).pk)[1]


@pytest.mark.parametrize("action", ["get", "complete", "delete"])
@pytest.mark.parametrize("pk", [1, 10**30])
def test_an_id_of_no_task_is_refused(action, pk):
    assert call(action, id=pk) == (
        True,
        {
            "error": f"Operation failed: there is no task {pk}",
            "hints": [hint("list", "List the tasks there are")],
            "context": {"overdue_tasks": 0},
        },
    )


def test_completing_a_task_says_when_and_hints_at_what_is_overdue():
    task = TaskFactory(overdue=True)

    is_error, answer = call("complete", id=task.pk)

    task.refresh_from_db()
    assert is_error is False
    assert task.status == "done"
    assert datetime.fromisoformat(answer["task"]["completed_at"]) == task.completed_at
    assert answer["hints"] == [hint("list", "List what is overdue", overdue=True)]
    assert answer["context"] == {"overdue_tasks": 0}


def test_completing_a_done_task_changes_nothing():
    task = TaskFactory(done=True, completed_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert call("complete", id=task.pk)[0] is False

    task.refresh_from_db()
    assert task.completed_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_deleting_a_task_answers_with_what_was_deleted():
    task = TaskFactory(project__name="Website")

    is_error, answer = call("delete", id=task.pk)

    assert is_error is False
    assert (answer["deleted"]["id"], answer["deleted"]["title"]) == (task.pk, task.title)
    assert answer["hints"] == [hint("list", "List the project's tasks", project="Website")]
    assert not Task.objects.exists()


def test_a_report_is_written_in_the_background():
    project = ProjectFactory(name="Website")
    TaskFactory(project=project, done=True)
    TaskFactory(project=project)
    ProjectFactory(name="Office move")

    task_id = call("report")[1]["task_id"]

    result = testing.run_task(task_id)
    assert result["structuredContent"] == {
        "result": {
            "projects": [
                {"project": "Office move", "tasks": 0, "done": 0},
                {"project": "Website", "tasks": 2, "done": 1},
            ],
            "context": {"overdue_tasks": 0},
        }
    }
    status = testing.run_tool("task_status", {"task_id": task_id})["structuredContent"]
    assert status["message"] == "Counting Website"


def test_many_tasks_are_created_at_once():
    ProjectFactory(name="Website")
    ProjectFactory(name="Office move")

    is_error, answer = call(
        "import_many",
        items=[
            {"project": "Website", "title": "a", "due": "2999-01-31"},
            {"project": "Office move", "title": "b"},
        ],
    )

    first, second = Task.objects.all()
    assert (first.title, first.due, second.title, second.due) == ("a", date(2999, 1, 31), "b", None)
    assert (is_error, answer) == (
        False,
        {
            "created": 2,
            "ids": [first.pk, second.pk],
            "hints": [hint("list", "List the project's tasks", project="Office move")],
            "context": {"overdue_tasks": 0},
        },
    )


def test_an_item_that_cannot_be_created_leaves_nothing_of_the_others(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    ProjectFactory(name="Website")

    items = [{"project": "Website", "title": "a"}, {"project": "Website", "title": "a"}]
    is_error, answer = call("import_many", items=items)

    assert is_error is True
    assert answer.startswith("Operation failed: items[1]: Website already has the task 'a': ")
    assert not Task.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", " "),
        ("title", "x" * 201),
        ("due", "31.01.2999"),
        ("due", "0000-01-01"),
        ("project", ""),
    ],
)
def test_a_value_the_tracker_could_not_keep_never_reaches_it(field, value):
    item = {"project": "Website", "title": "a", field: value}

    is_error, answer = call("import_many", items=[item])

    assert is_error is True
    assert (answer["error"], [entry["path"] for entry in answer["invalid"]]) == (
        "invalid_values",
        [f"items[0].{field}"],
    )


def test_every_example_of_an_action_is_a_call_its_gates_let_through():
    for name in ("Website", "Office move"):
        ProjectFactory(name=name)
    TaskFactory(pk=1)
    listed = json.loads(testing.run_tool("help", {"tool": "tasks"})["content"][0]["text"])

    for name in ("list", "get", "complete", "create", "import_many", "report", "delete"):
        for example in listed["actions"].pop(name)["examples"]:
            assert (name, example, call(name, **example)[0]) == (name, example, False)
    assert listed["actions"] == {}


def test_the_workload_counts_open_tasks_by_project():
    website = ProjectFactory(name="Website")
    TaskFactory(project=website, due=date(2027, 1, 31))
    TaskFactory(project=website)
    TaskFactory(project=website, status=Task.Status.DONE)
    TaskFactory(project=ProjectFactory(name="Office move"))

    everything = testing.run_tool("tracker__workload")
    until = testing.run_tool("tracker__workload", {"until": "2027-01-31"})

    assert everything["structuredContent"] == {"Office move": 1, "Website": 2}
    assert until["structuredContent"] == {"Website": 1}
