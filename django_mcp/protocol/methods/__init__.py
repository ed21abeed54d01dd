"""The methods served, one a module: `answer(exchange)` returns the encoded result."""
