"""How a notice reaches its people: what waits, what is due, what was sent, what could not be."""
