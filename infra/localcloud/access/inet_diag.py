"""Whose a connection is, asked of Linux by netlink: one question and one answer, however many there are."""

import atexit
import socket
import struct
import threading

from localcloud.access.sockets import Address, Other

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
