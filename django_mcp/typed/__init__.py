"""Typed tools: functions whose schemas come from their type hints."""
