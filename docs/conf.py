from __future__ import annotations

project = "django_mcp"
author = "django_mcp contributors"
copyright = "2026, django_mcp contributors"

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
# Headings can be linked to from other pages.
myst_heading_anchors = 3

html_theme = "furo"
html_title = "django_mcp"
