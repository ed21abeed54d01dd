"""The command `manage.py mcp`."""
