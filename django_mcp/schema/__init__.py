"""JSON Schema as tools declare it: its rules, its closure, its value gate, what is published."""
