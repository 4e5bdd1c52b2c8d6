"""Launches: what a script's requests come to, and how they are moved and compared."""
