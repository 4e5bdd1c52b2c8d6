"""The metadata server of one virtual machine."""

from localcloud.machines.metadata.server import MetadataServer

__all__ = ["MetadataServer"]
