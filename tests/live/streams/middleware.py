from __future__ import annotations

from django.db import connection
from django.utils.deprecation import MiddlewareMixin

from example_project.tracker.models import Project


class InTransaction(MiddlewareMixin):
    """Queries as session middleware does, and says whether that ran in a transaction of a call's."""

    def process_response(self, request, response):
        Project.objects.exists()
        response.headers["X-In-Transaction"] = str(connection.in_atomic_block)
        return response
