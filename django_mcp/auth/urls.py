"""`path("", include("django_mcp.auth.urls"))` at the root of the site: the well-known addresses of RFC 9728.

Answers the root form and the form with the endpoint's path behind it.
"""

from __future__ import annotations

from django.urls import path, re_path

from django_mcp.auth.metadata import protected_resource

urlpatterns = [
    path(".well-known/oauth-protected-resource", protected_resource, name="mcp-protected-resource"),
    # Any path, and none behind the slash: a client that tries several reads JSON everywhere.
    re_path(r"^\.well-known/oauth-protected-resource/(?P<path>.*)$", protected_resource),
]
