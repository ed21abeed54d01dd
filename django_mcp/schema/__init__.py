"""JSON Schema as tools declare it: its rules, its two directions of closure, its value gate, what is published."""
