"""The local cloud's side of the fork server."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Self

from localcloud.supervisor import Supervised, adopt, start

PROCESS = Path(__file__).with_name("process.py")
LENGTH_BYTES = 4
ROOM = {"SPOTWARDEN_ROOM": "." * 8192}
"""What a function is told beyond the fork server is shown by the system as its environment."""


class ForkServer:
    """A running fork server. Made by `grow`."""

    def __init__(self, process: Supervised, channel: socket.socket) -> None:
        self.process = process
        self._channel = channel
        self._one = asyncio.Lock()

    @classmethod
    async def grow(cls, sources: Sequence[Path], *, env: Mapping[str, str], log: Path) -> Self | None:
        """Start a fork server for these main modules; None where a process is not safely forked, as on macOS.

        It is asked before it has imported all, and answers when it has. The log says what went wrong.
        """
        if sys.platform != "linux":
            return None
        ours, theirs = socket.socketpair()
        argv = [sys.executable, "-P", str(PROCESS), *map(str, sources)]
        try:
            with theirs, log.open("ab") as file:
                process = await start(
                    argv, env={**env, **ROOM}, cwd=log.parent, stdout=theirs.fileno(), stderr=file
                )
        except BaseException:
            ours.close()
            raise
        return cls(process, ours)

    async def branch(
        self, arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: BinaryIO
    ) -> Supervised:
        """Fork a process that goes on as `python -m functions_framework` with these arguments.

        Raises `ChildProcessError` if there is none any more, or it must not: in this environment its
        modules would have been imported otherwise.
        """
        output = os.dup(log.fileno())

        async def fork(control: int, mark: str) -> None:
            asked = json.dumps({"arguments": arguments, "env": env, "cwd": str(cwd), "mark": mark})
            async with self._one:
                await asyncio.to_thread(_send, self._channel, asked.encode(), [control, output])

        try:
            return await adopt(fork)
        finally:
            os.close(output)

    async def stop(self) -> None:
        """End it, and whatever is left of its branches."""
        await self.process.kill()
        self._channel.close()


def _send(channel: socket.socket, message: bytes, descriptors: Sequence[int]) -> None:
    socket.send_fds(channel, [len(message).to_bytes(LENGTH_BYTES)], descriptors)
    channel.sendall(message)
