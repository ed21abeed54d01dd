"""OAuth 2.0 protected resource metadata (RFC 9728), for sites whose tokens an authorization server issues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from django_mcp import conf


@require_safe
@login_not_required
def protected_resource(request: HttpRequest, path: str = "") -> JsonResponse:
    """The metadata of the server whose resource has this path (RFC 9728, section 3.1).

    Without a path it is that of the server `default`, or of the only one that has any, for clients
    that try the root of the site. What is published comes from the setting PROTECTED_RESOURCE, never from
    the Host header.
    """
    metadata = _metadata(path.strip("/"))
    if metadata is None:
        return JsonResponse({"error": "No protected resource metadata is published here."}, status=404)
    return JsonResponse(
        {key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()}
    )


def _metadata(path: str) -> Mapping[str, Any] | None:
    servers = conf.get().servers
    published = [found for server in servers.values() if (found := server.protected_resource) is not None]
    for metadata in published:
        if unquote(urlsplit(metadata["resource"]).path).strip("/") == path:
            return metadata
    if path:
        return None
    only = published[0] if len(published) == 1 else None
    return servers["default"].protected_resource or only
