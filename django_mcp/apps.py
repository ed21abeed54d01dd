from __future__ import annotations

import sys
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

from django_mcp.transports import streams


class DjangoMcpConfig(AppConfig):
    name = "django_mcp"
    label = "django_mcp"
    verbose_name = _("Model Context Protocol server")

    def __init__(self, app_name: str, app_module: Any) -> None:
        super().__init__(app_name, app_module)
        # Now, before models and tools are imported, so that what they print spoils nothing.
        if streams.is_commanded(sys.argv):
            streams.keep()

    def ready(self) -> None:
        # The framework's own tools declare themselves when their modules are imported, as an author's do.
        from django_mcp import log
        from django_mcp.checks import check_mcp, check_mcp_deploy
        from django_mcp.dispatch import help as _help  # noqa: F401 (imported for its declaration)
        from django_mcp.dispatch import task_tools as _task_tools  # noqa: F401 (likewise)

        checks.register(check_mcp, "django_mcp")
        checks.register(check_mcp_deploy, "django_mcp", deploy=True)
        autodiscover_modules("mcp")
        log.connect()
