"""What a tool author writes: tools, actions, answers, hints, and the context of one call."""
