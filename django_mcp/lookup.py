"""Rows of Django models as arguments of typed tools."""

from __future__ import annotations

from django_mcp.typed.lookup import ByPk

__all__ = ["ByPk"]
