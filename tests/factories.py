"""Objects of the example site, filled in."""

from __future__ import annotations

from datetime import timedelta

import factory
from django.contrib.auth.models import User
from django.utils import timezone

from example_project.tracker.models import Project, Task


class ProjectFactory(factory.django.DjangoModelFactory[Project]):
    class Meta:
        model = Project

    name = factory.Sequence("Project {}".format)


class TaskFactory(factory.django.DjangoModelFactory[Task]):
    class Meta:
        model = Task

    class Params:
        overdue = factory.Trait(due=factory.LazyFunction(lambda: timezone.localdate() - timedelta(days=1)))
        done = factory.Trait(status=Task.Status.DONE, completed_at=factory.LazyFunction(timezone.now))

    project = factory.SubFactory(ProjectFactory)
    title = factory.Sequence("Task {}".format)


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User

    username = factory.Sequence("user{}".format)
