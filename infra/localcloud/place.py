"""A port of loopback that is known, and held, before anybody listens there."""

import socket
import sys

from localcloud.listener import HOST


class Place:
    """A port of loopback that nobody else is given, whether somebody listens on it or not.

    On Linux a bound socket that does not listen leaves it to whoever asks for this very port; elsewhere it
    would keep everybody out, so there the port is only likely to stay free.
    """

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind((HOST, 0))
        self.port = int(self._held.getsockname()[1])
        if sys.platform != "linux":
            self._held.close()

    def close(self) -> None:
        """Leave it to anybody."""
        self._held.close()
