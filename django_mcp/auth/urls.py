"""`path("", include("django_mcp.auth.urls"))` at the root of the site: the well-known addresses of RFC 9728.

Answers the root form and the form with the endpoint's path behind it.
"""

from __future__ import annotations

from django.urls import path

from django_mcp.auth.metadata import protected_resource

_WELL_KNOWN = ".well-known/oauth-protected-resource"

urlpatterns = [
    path(_WELL_KNOWN, protected_resource, name="mcp-protected-resource"),
    path(f"{_WELL_KNOWN}/<path:path>", protected_resource),
]
