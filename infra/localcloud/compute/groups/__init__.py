"""Managed instance groups of zones: what is asked for, and who keeps each VM of a group as it should be."""

from localcloud.compute.groups.groups import Groups

__all__ = ["Groups"]
