"""Rows as arguments."""

from __future__ import annotations

import uuid
from typing import Annotated

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.db import models

from django_mcp.lookup import ByPk
from example_project.tracker.models import Project, Task
from tests import nul
from tests.typed.tools import argument, found, made, taking
from tests.wire import text

pytestmark = pytest.mark.django_db(transaction=True)


class Ticket(models.Model):  # noqa: DJ008
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)

    class Meta:
        app_label = "tests"
        managed = False


class Detail(models.Model):  # noqa: DJ008
    ticket = models.OneToOneField(Ticket, models.CASCADE, primary_key=True)

    class Meta:
        app_label = "tests"
        managed = False


class Day(models.Model):  # noqa: DJ008
    day = models.DateField(primary_key=True)

    class Meta:
        app_label = "tests"
        managed = False


@pytest.mark.parametrize(
    ("model", "schema"),
    [
        (Task, {"description": "Primary key of a task.", "type": "integer"}),
        (Session, {"description": "Primary key of a session.", "maxLength": 40, "type": "string"}),
        (Ticket, {"description": "Primary key of a ticket.", "format": "uuid", "type": "string"}),
        (Detail, {"description": "Primary key of a detail.", "format": "uuid", "type": "string"}),
    ],
)
def test_the_argument_is_the_primary_key(model, schema):
    assert argument(taking(Annotated[model, ByPk])) == schema


def test_the_function_gets_the_row(run):
    project = Project.objects.create(name="Website")
    declared = taking(Annotated[Project, ByPk])
    assert run(declared, {"value": project.pk})["structuredContent"] == {"result": repr(project)}


@pytest.mark.parametrize("pk", [3, -1, 10**30])
def test_a_key_that_no_row_has_is_a_tool_error(run, pk):
    assert run(taking(Annotated[Project, ByPk]), {"value": pk}) == text(
        f"Operation failed: there is no project {pk}",
        is_error=True,
        meta={"django_mcp.error": "error", "django_mcp.retryable": False},
    )


def test_so_is_a_text_that_no_database_can_hold(run):
    with nul.refused():
        answered = run(taking(Annotated[Session, ByPk]), {"value": "a\0b"})
    assert answered == text(
        "Operation failed: there is no session a\0b",
        is_error=True,
        meta={"django_mcp.error": "error", "django_mcp.retryable": False},
    )


def test_rows_stand_wherever_a_value_does(run):
    rows = [Project.objects.create(name=name) for name in "ab"]
    declared = taking(list[Annotated[Project, ByPk] | None])
    sent = [rows[0].pk, None, rows[1].pk]
    assert run(declared, {"value": sent})["structuredContent"] == {"result": repr([rows[0], None, rows[1]])}


def test_rows_may_be_some_only(run):
    active = User.objects.create(username="ada")
    gone = User.objects.create(username="bob", is_active=False)
    declared = taking(Annotated[User, ByPk(User.objects.filter(is_active=True))])
    assert run(declared, {"value": active.pk})["isError"] is False
    assert run(declared, {"value": gone.pk})["isError"] is True


def test_rows_may_be_those_of_a_manager(run):
    user = User.objects.create(username="ada")
    declared = taking(Annotated[User, ByPk(User.objects)])
    assert run(declared, {"value": user.pk})["structuredContent"] == {"result": repr(user)}


def test_what_belongs_to_a_row_may_be_selected_with_it(run, django_assert_max_num_queries):
    permission = Permission.objects.select_related("content_type").first()

    def app(value: Annotated[Permission, ByPk(Permission.objects.select_related("content_type"))]) -> str:
        """App."""
        return value.content_type.app_label

    with django_assert_max_num_queries(1):
        result = run(made(app, read_only=True), {"value": permission.pk})
    assert result["structuredContent"] == {"result": permission.content_type.app_label}


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (Annotated[int, ByPk], "ByPk belongs to a Django model, not to <class 'int'>"),
        (
            Annotated[Project, ByPk(User.objects.all())],
            "ByPk of tracker.Project takes a queryset of it, not one of User",
        ),
        (Annotated[Project, ByPk("all")], "ByPk of tracker.Project takes a queryset of it, not one of str"),
        (Annotated[Day, ByPk], "the primary key of tests.Day is a DateField, which no argument can be"),
    ],
)
def test_what_cannot_be_looked_up_is_told(hint, problem, django_assert_num_queries):
    with django_assert_num_queries(0):
        [(id, message, _)] = found(taking(hint))
    assert (id, message) == ("E091", f"tests__show: The arguments: no schema can be derived: {problem}.")
