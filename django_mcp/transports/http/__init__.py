"""Streamable HTTP (MCP transports): one path, POST, JSON."""
