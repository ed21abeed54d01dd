from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from django_mcp.background.models import BackgroundTask, Status
from django_mcp.background.store import as_record
from django_mcp.dispatch import tasks

if TYPE_CHECKING:
    BackgroundTaskAdminBase = admin.ModelAdmin[BackgroundTask]
else:
    BackgroundTaskAdminBase = admin.ModelAdmin


@admin.register(BackgroundTask)
class BackgroundTaskAdmin(BackgroundTaskAdminBase):
    """To look at and to cancel; arguments and results are the callers' and are not shown."""

    list_display = ("task_id", "tool", "action", "server", "owner", "state", "status_message", "created_at")
    list_filter = ("status", "server", "tool")
    search_fields = ("task_id", "tool", "owner")
    date_hierarchy = "created_at"
    fields = (
        "task_id",
        ("server", "tool", "action"),
        "owner",
        "state",
        "status_message",
        ("created_at", "last_updated_at", "heartbeat_at", "expires_at"),
    )
    readonly_fields = ("state",)
    actions = ("cancel",)

    @admin.display(description=gettext_lazy("state"), ordering="status")
    def state(self, task: BackgroundTask) -> str:
        """The status, and what is known of the work this very moment."""
        record = as_record(task)
        if record.heartbeat_at is not None and record.is_stale(timezone.now()):
            return _("no sign of life for %(time)s") % {"time": timesince(record.heartbeat_at)}
        if task.status == Status.WORKING and not task.worker:
            return _("waiting for a worker")
        if task.cancel_requested and not record.settled:
            return _("being cancelled")
        return str(task.get_status_display())

    @admin.action(description=gettext_lazy("Cancel selected tasks"), permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[BackgroundTask]) -> None:
        """Ask the work of the selected tasks to stop."""
        unsettled = queryset.filter(status__in=tasks.UNSETTLED)
        count = len([tasks.cancel(as_record(task)) for task in unsettled])
        text = ngettext("%(count)d task is asked to stop.", "%(count)d tasks are asked to stop.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: BackgroundTask | None = None) -> tuple[str, ...]:
        """Everything: a task is changed by its worker, and by cancelling it."""
        return (*(field.name for field in BackgroundTask._meta.fields), "state")
