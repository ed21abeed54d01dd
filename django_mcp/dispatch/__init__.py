"""One call of a tool: gates, handler, answer."""
