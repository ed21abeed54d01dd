from __future__ import annotations
def check_mcp(app_configs, **kwargs):
    return []
