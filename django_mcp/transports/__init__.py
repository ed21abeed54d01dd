"""What carries messages to a server."""
