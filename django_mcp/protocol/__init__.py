"""The Model Context Protocol over JSON-RPC, without a transport: messages, eras, methods, results."""
