"""Spotwarden: preempted training jobs come back, idle GPU machines do not burn money."""

__version__ = "0.2.0"
"""What `spotwarden --version` prints, and the package's metadata say."""
