from __future__ import annotations

from django.apps import AppConfig


class TrackerConfig(AppConfig):
    name = "example_project.tracker"
    default_auto_field = "django.db.models.BigAutoField"
