"""Gangs that bend: lost nodes are refilled one by one, and those that run are kept."""
