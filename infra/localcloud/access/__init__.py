"""Who may call: the user that runs the local cloud, and no web page but its own."""

from localcloud.access.peers import Owner, owner
from localcloud.access.rules import Asked, Rules

__all__ = ["Asked", "Owner", "Rules", "owner"]
