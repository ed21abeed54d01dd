"""What stands between a call and its handler where a tool asks for it: retries, limits, caches, tenants."""
