"""The other end of a connection on this machine, as the kernel knows it."""

from typing import NamedTuple, Protocol

Address = tuple[str, int]
"""An IPv4 address as text, and a port."""


class Other(NamedTuple):
    """A socket: the user who made it, and its inode, which is 0 once no process has it open any more."""

    uid: int
    inode: int


class Table(Protocol):
    """Where sockets are looked up."""

    def other(self, theirs: Address, ours: Address, /) -> Other | None:
        """The socket at `theirs` that is connected to `ours`; None when there is none any more."""
        ...
