"""Connections that end in time."""

import io
import socket
import time
from datetime import timedelta
from typing import Any

MOST = 1024 * 1024
"""What a server may say in one conversation, in bytes; who says more is cut off."""


class Deadline:
    """A moment by which to be done. The clock is the machine's own, which no time zone or travel changes."""

    def __init__(self, span: timedelta) -> None:
        self.renew(span)

    def renew(self, span: timedelta) -> None:
        """Be done in so long, from now."""
        self._end = time.monotonic() + span.total_seconds()

    def left(self) -> float:
        """How many seconds are left; `TimeoutError` when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        return left


def dial(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first address that answers; each gets its share of the time, so a dead one leaves some.

    The name is looked up by the machine's resolver, which has time-outs of its own.
    """
    failure: OSError = OSError(f"{host} has no address")
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for tried, (family, kind, protocol, _, address) in enumerate(found):
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(deadline.left() / (len(found) - tried))
            connection.connect(address)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def reader(connection: socket.socket, deadline: Deadline) -> io.BufferedReader:
    """What the other side says, until the deadline and up to `MOST` bytes; beyond either, an `OSError`.

    A socket's own time-out starts anew with each byte that arrives: a server that drips would never be late.
    """
    return io.BufferedReader(_Incoming(connection, deadline))


class _Incoming(io.RawIOBase):
    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline
        self._said = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - whatever holds bytes
        if self._said > MOST:
            raise OSError(f"it sends more than {MOST} bytes")
        self._connection.settimeout(self._deadline.left())
        count = self._connection.recv_into(buffer)
        self._said += count
        return count


class Timed:
    """A connection for `http.client`, which asks no more of one. Closing it is its opener's business."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        """Send all of it in time."""
        self._connection.settimeout(self._deadline.left())
        self._connection.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What is said back."""
        return reader(self._connection, self._deadline)

    def close(self) -> None:
        """Leave it open: an answer may still be in it."""
