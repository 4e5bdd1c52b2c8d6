"""What a virtual machine says on its first serial port."""

from datetime import datetime
from pathlib import Path

SERIAL_BYTES = 1024 * 1024
"""Compute Engine keeps the newest mebibyte of the serial port's output ("Viewing serial port output")."""


class Console:
    """A growing text file, one line a message, in the form of the system log of Compute Engine's images.

    `lines` counts what was written since this object was made.
    """

    def __init__(self, path: Path, host: str) -> None:
        self._path = path
        self._host = host
        self.lines = 0

    def write(self, moment: datetime, process: str, message: str) -> None:
        """Add one line: time, host, process and message, as syslog writes them."""
        self.lines += 1
        with self._path.open("a", encoding="utf-8") as log:
            log.write(f"{moment:%b %d %H:%M:%S} {self._host} {process}: {message}\n")

    def read(self) -> str:
        """The newest mebibyte of it."""
        if not self._path.exists():
            return ""
        with self._path.open("rb") as log:
            log.seek(0, 2)
            log.seek(max(0, log.tell() - SERIAL_BYTES))
            return log.read().decode(errors="replace")
