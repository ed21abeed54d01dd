"""OAuth 2.0 protected resource metadata (RFC 9728), for sites whose tokens an authorization server issues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from django_mcp import conf


@require_safe
@login_not_required
def protected_resource(request: HttpRequest, path: str | None = None) -> JsonResponse:
    """The metadata of the server whose resource has this path; without a path, of the server `default`.

    What is published comes from the setting PROTECTED_RESOURCE, never from the Host header.
    """
    metadata = _metadata(path)
    if metadata is None:
        return JsonResponse({"error": "No protected resource metadata is published here."}, status=404)
    return JsonResponse(
        {key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()}
    )


def _metadata(path: str | None) -> Mapping[str, Any] | None:
    servers = conf.get().servers
    if path is None:
        return servers["default"].protected_resource
    for server in servers.values():
        metadata = server.protected_resource
        if metadata is not None and urlsplit(metadata["resource"]).path.strip("/") == path.strip("/"):
            return metadata
    return None
