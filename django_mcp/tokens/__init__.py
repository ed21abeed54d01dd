"""Bearer tokens: a small optional app of its own (`"django_mcp.tokens"` in INSTALLED_APPS)."""
