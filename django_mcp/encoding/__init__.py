"""From the values a handler returns to JSON on the wire, and back from bytes to values."""
