"""Markers: what they say, which come first where there are many, and which belong to nobody."""
