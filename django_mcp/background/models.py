from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import IntegrityError, models, router, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from django_mcp.dispatch.tasks import UNSETTLED
from django_mcp.encoding import codec

if TYPE_CHECKING:
    JSONTextBase = models.TextField[Any, Any]
else:
    JSONTextBase = models.TextField


class JSONText(JSONTextBase):
    """JSON kept as the text it is: the JSON columns of some databases reorder keys or refuse characters."""

    def from_db_value(self, value: str, *args: Any) -> Any:
        return json.loads(value)

    def get_prep_value(self, value: Any) -> str:
        return codec.text(value)


class Status(models.TextChoices):
    """What a task can be (MCP tasks extension). The last three are final."""

    WORKING = "working", _("working")
    INPUT_REQUIRED = "input_required", _("waiting for input")
    COMPLETED = "completed", _("completed")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class TaskQuerySet(models.QuerySet["BackgroundTask"]):
    def written(self) -> TaskQuerySet:
        """Those where they are written: a replica may not have yet what was told to be kept."""
        return self.using(router.db_for_write(self.model))

    def unsettled(self) -> TaskQuerySet:
        return self.filter(status__in=UNSETTLED)

    def kept(self, now: datetime) -> TaskQuerySet:
        """Those whose time is not over."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now))

    def expired(self, now: datetime) -> TaskQuerySet:
        return self.filter(expires_at__lte=now)


class BackgroundTask(models.Model):
    """One piece of background work, from before its id is told until its retention is over."""

    task_id = models.CharField(_("id"), max_length=32, primary_key=True, editable=False)
    server = models.CharField(_("server"), max_length=200)
    tool = models.CharField(_("tool"), max_length=128)
    action = models.TextField(_("action"), blank=True)
    arguments = JSONText(_("arguments"))
    owner = models.CharField(_("owner"), max_length=400, blank=True, help_text=_("Whose task it is."))
    axes = JSONText(_("axes"))
    locale = JSONText(_("locale"), default=dict, help_text=_("The language and time zone of its client."))
    trace = JSONText(_("trace"), default=dict, help_text=_("What its client's tracing calls the call."))
    capabilities = JSONText(_("capabilities"), help_text=_("What its client can be asked."))
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.WORKING)
    status_message = models.TextField(_("status message"), blank=True)
    answers = JSONText(_("answers"), help_text=_("What the user answered so far."))
    questions = JSONText(_("questions"), help_text=_("What the user is asked now."))
    asked = JSONText(_("asked"), help_text=_("The keys of all questions so far."))
    result = JSONText(_("result"))
    error = JSONText(_("error"))
    worker = models.CharField(_("worker"), max_length=32, blank=True, help_text=_("Who runs it."))
    ticket = JSONText(_("ticket"), default=None, help_text=_("What the queue calls its message."))
    heartbeat_at = models.DateTimeField(_("last sign of life"), null=True, blank=True)
    cancel_requested = models.BooleanField(_("cancel requested"), default=False)
    version = models.PositiveIntegerField(_("version"), default=0)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    last_updated_at = models.DateTimeField(_("updated"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True, help_text=_("Empty: never."))

    objects: ClassVar[TaskQuerySet] = TaskQuerySet.as_manager()  # type: ignore[assignment]  # as Django types it

    class Meta:
        verbose_name = _("background task")
        verbose_name_plural = _("background tasks")
        ordering = ("-created_at", "task_id")
        indexes = (
            models.Index(fields=("status", "heartbeat_at"), name="mcp_task_life"),
            models.Index(fields=("expires_at",), name="mcp_task_expires"),
        )

    def __str__(self) -> str:
        return self.task_id


class SpentStateManager(models.Manager["SpentState"]):
    def spend(self, nonce: str, max_age_s: int) -> bool:
        """Whether this is the first time; committed when it returns, whatever becomes of the call."""
        now, alias = timezone.now(), router.db_for_write(self.model)
        try:
            with transaction.atomic(using=alias, durable=True):
                self.using(alias).create(nonce=nonce, expires_at=now + timedelta(seconds=max_age_s))
        except IntegrityError:
            return False
        self.filter(expires_at__lt=now).delete()
        return True


class SpentState(models.Model):
    """A request state that was accepted its only time, kept until it would be too old anyway."""

    nonce = models.CharField(_("nonce"), max_length=64, primary_key=True)
    expires_at = models.DateTimeField(_("expires"), db_index=True)

    objects: ClassVar[SpentStateManager] = SpentStateManager()

    class Meta:
        verbose_name = _("spent request state")
        verbose_name_plural = _("spent request states")

    def __str__(self) -> str:
        return self.nonce
