"""The look at jobs: of a tick, of an event about one node, and what many jobs share of it."""
