"""Work that outlives its request: a small optional app (`"django_mcp.background"` in INSTALLED_APPS)."""
