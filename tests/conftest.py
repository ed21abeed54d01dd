from __future__ import annotations

import hypothesis

# How long an example takes says something about the machine, not about the product.
hypothesis.settings.register_profile("django_mcp", deadline=None)
hypothesis.settings.load_profile("django_mcp")
