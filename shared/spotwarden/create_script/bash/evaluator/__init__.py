"""Runs a script on values alone: what is not known stays unknown, and refuses where it matters."""
