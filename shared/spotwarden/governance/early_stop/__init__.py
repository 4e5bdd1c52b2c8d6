"""Trainings that cannot come to anything any more."""
