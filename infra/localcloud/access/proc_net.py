"""Whose a connection is, read from the list of all connections: for where netlink is not to be had."""

import socket
import sys
from pathlib import Path

from localcloud.access.sockets import Address, Other

_UID, _INODE = 7, 9
"""Columns of proc(5), `/proc/net/tcp`."""


class ProcNet:
    """Reads `/proc/net/tcp` and, for programs that speak IPv6 to an IPv4 address, `/proc/net/tcp6`."""

    def __init__(self, folder: Path = Path("/proc/net")) -> None:
        self._folder = folder

    def other(self, theirs: Address, ours: Address) -> Other | None:
        """The socket at `theirs` that is connected to `ours`; None when there is none any more."""
        for name, prefix in (("tcp", ""), ("tcp6", _mapped())):
            text = (self._folder / name).read_text(encoding="ascii")
            wanted = f": {prefix}{_hex(theirs)} {prefix}{_hex(ours)} "
            if (at := text.find(wanted)) >= 0:
                row = text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)].split()
                return Other(uid=int(row[_UID]), inode=int(row[_INODE]))
        return None


def _hex(address: Address) -> str:
    """As the kernel prints it: the address as a number of this machine's, the port in hexadecimal."""
    number = int.from_bytes(socket.inet_aton(address[0]), sys.byteorder)
    return f"{number:08X}:{address[1]:04X}"


def _mapped() -> str:
    """What comes before an IPv4 address in an IPv6 one (`::ffff:127.0.0.1`)."""
    words = (b"\0" * 4, b"\0" * 4, b"\0\0\xff\xff")
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
