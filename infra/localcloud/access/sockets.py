"""The other end of a connection on this machine, as the kernel knows it: by netlink, or from its lists."""

import atexit
import socket
import struct
import sys
import threading
from pathlib import Path
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


NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
NO_COOKIE = (0xFFFFFFFF, 0xFFFFFFFF)
TCP_LISTEN = 10

_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI")
_PORTS = struct.Struct("!HH")
_REST = struct.Struct("=III")
_TAIL = struct.Struct("=IIIII")
_ANSWER_BYTES = 72
_MOST_BYTES = 4096


class InetDiag:
    """Asks `sock_diag(7)`. Raises `OSError` where the kernel does not answer such questions."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
        self._socket.settimeout(1)
        atexit.register(self.close)
        self._one = threading.Lock()
        self._sequence = 0

    def other(self, theirs: Address, ours: Address) -> Other | None:
        """The socket at `theirs` that is connected to `ours`; None when there is none any more."""
        with self._one:
            self._sequence += 1
            self._socket.send(_question(theirs, ours, self._sequence))
            while True:
                message = self._socket.recv(_MOST_BYTES)
                _, kind, _, sequence, _ = _HEADER.unpack_from(message)
                if sequence == self._sequence:
                    return _answer(message[_HEADER.size :], theirs) if kind == SOCK_DIAG_BY_FAMILY else None

    def close(self) -> None:
        """Ask no more."""
        self._socket.close()


def _question(theirs: Address, ours: Address, sequence: int) -> bytes:
    every_state = 0xFFFFFFFF
    ends = b"".join(socket.inet_aton(host).ljust(16, b"\0") for host, _ in (theirs, ours))
    body = (
        _REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, every_state)
        + _PORTS.pack(theirs[1], ours[1])
        + ends
        + _REST.pack(0, *NO_COOKIE)
    )
    return _HEADER.pack(_HEADER.size + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, sequence, 0) + body


def _answer(body: bytes, theirs: Address) -> Other | None:
    state = body[1]
    port, _ = _PORTS.unpack_from(body, 4)
    # Where no connection is found the kernel looks for somebody who listens there.
    if state == TCP_LISTEN or port != theirs[1]:
        return None
    _, _, _, uid, inode = _TAIL.unpack_from(body, _ANSWER_BYTES - _TAIL.size)
    return Other(uid=uid, inode=inode)


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
