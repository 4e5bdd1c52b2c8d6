"""The output of a script: raw into its log, line by line to the console."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

CHUNK = 65536
DRAIN_CHUNKS = 64
"""At most so much (4 MiB) is read at a stretch; a process that writes without end must not stop the loop."""


class Tee:
    """Reads a pipe until its last writer has closed it. `writer` is the end for the script."""

    def __init__(self, log: Path, say: Callable[[str], None]) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._log = log.open("ab", buffering=0)
        self._say = say
        self._rest = b""
        self._open = True
        asyncio.get_running_loop().add_reader(self._reader, self._read)

    def started(self) -> None:
        """Give up our copy of the script's end: the script has its own now."""
        os.close(self.writer)

    def drain(self) -> None:
        """Take what has been written so far."""
        for _ in range(DRAIN_CHUNKS):
            if not self._open or not self._read():
                return

    def close(self) -> None:
        """Take what is left and stop reading."""
        self.drain()
        self._end()

    def _read(self) -> bool:
        try:
            chunk = os.read(self._reader, CHUNK)
        except BlockingIOError:
            return False
        if chunk:
            self._take(chunk)
        else:
            self._end()
        return bool(chunk)

    def _take(self, chunk: bytes) -> None:
        self._log.write(chunk)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > CHUNK:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._say(line.decode(errors="replace"))

    def _end(self) -> None:
        if not self._open:
            return
        self._open = False
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self._reader)
        if self._rest:
            self._say(self._rest.decode(errors="replace"))
        self._log.close()
