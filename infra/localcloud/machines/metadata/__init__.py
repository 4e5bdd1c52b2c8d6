"""The metadata server of one virtual machine."""

from localcloud.machines.metadata.server import RULES, MetadataServer

__all__ = ["RULES", "MetadataServer"]
