"""Commands that cannot outlive this process: starting one and ending it."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import IO

import psutil

from localcloud.supervisor import marks
from localcloud.supervisor.guardian import descendants

GUARDIAN = Path(__file__).with_name("guardian.py")

LOST = -9
"""The exit status of a command whose end nobody saw because its guardian was killed."""

Output = int | IO[bytes] | None

Fork = Callable[[int, str], Awaitable[None]]
"""Asks another process of ours to fork a command under guard: our control socket is theirs, and a mark."""


class Supervised:
    """A running command with all its descendants. Made by `start`.

    `pid` is the command's own process id, which is also its session and process group. The outer guardian's
    `process` is ours to collect; there is none where another process of ours forked it, which does that.
    """

    def __init__(
        self,
        *,
        guardian: int,
        process: subprocess.Popen[bytes] | None = None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        mark: str,
    ) -> None:
        self.pid = 0
        self.mark = mark
        self._guardian = guardian
        self._process = process
        self._inner = 0
        self._reader = reader
        self._writer = writer
        self._empty = False
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._started = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(), name=f"supervisor {mark}")

    async def started(self) -> None:
        """Return when the command runs; raise `ChildProcessError` if its guardian died before."""
        await self._started.wait()
        if not self.pid:
            raise ChildProcessError("the guardian died before it had started the command")

    async def wait(self) -> int:
        """The command's exit status, negative for a signal; its descendants may live on."""
        return await asyncio.shield(self._status)

    async def gone(self) -> None:
        """Return when the command and all its descendants are gone."""
        await asyncio.shield(self._listening)

    async def terminate(self, grace: timedelta) -> None:
        """Send SIGTERM to all, kill what is left after the grace, return when nothing is."""
        self._order(b"T")
        try:
            async with asyncio.timeout(grace.total_seconds()):
                await self.gone()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """Kill the command and all its descendants; return when nothing is left."""
        self._order(b"K")
        await self.gone()

    def processes(self) -> list[psutil.Process]:
        """The descendants alive now: the command if it still runs, and all that came of it."""
        if self._listening.done():
            return []
        # psutil's own children() would look at every process of this machine, for each VM that is measured.
        return [process for pid in descendants(self._guardian) if (process := self._living(pid))]

    def _living(self, pid: int) -> psutil.Process | None:
        try:
            return psutil.Process(pid) if pid != self._inner else None
        except psutil.NoSuchProcess:
            return None

    def _order(self, order: bytes) -> None:
        if not self._listening.done():
            self._writer.write(order)

    async def _listen(self) -> None:
        """Take the guardian's reports until it is gone, and then make sure that all the others are, too."""
        while line := await self._next_line():
            self._take(line.split())
        if self._process:
            await asyncio.to_thread(self._process.wait)
        if not self._empty:
            await asyncio.to_thread(marks.sweep, self.mark)
        if not self._status.done():
            self._status.set_result(LOST)
        self._started.set()
        self._writer.close()

    async def _next_line(self) -> bytes:
        try:
            return await self._reader.readline()
        except ConnectionError:
            return b""

    def _take(self, words: list[bytes]) -> None:
        match words:
            case [b"started", inner, command]:
                self._inner, self.pid = int(inner), int(command)
                self._started.set()
            case [b"exited", status]:
                self._status.set_result(int(status))
            case [b"empty"]:
                self._empty = True


async def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdout: Output = subprocess.DEVNULL,
    stderr: Output = subprocess.STDOUT,
    umask: int = -1,
) -> Supervised:
    """Start a command that dies with us. It has no input, this environment and its mark, and nothing of ours.

    (Where the environment sets no locale, the guardian's Python adds `LC_CTYPE=C.UTF-8`, see PEP 538.)
    A `umask` of -1 is ours.
    Raises `FileNotFoundError` if there is no such command on `env["PATH"]`, `NotADirectoryError` if there is
    no such folder, `ChildProcessError` if the guardian died before it had started the command.
    """
    program = _find(argv[0], env=env, cwd=cwd)
    mark = marks.new()
    ours, theirs = socket.socketpair()
    with theirs:
        guardian = subprocess.Popen(  # noqa: ASYNC220, S603 - returns within milliseconds; argv is our caller's
            [sys.executable, "-I", "-S", str(GUARDIAN), str(theirs.fileno()), program, *argv[1:]],
            env={**env, marks.VARIABLE: mark},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            umask=umask,
        )
    return await _or_nothing(_started(guardian, ours, mark))


async def adopt(fork: Fork) -> Supervised:
    """Take over a command that `fork` has another process of ours start, under `guardian.guard`.

    Raises `ChildProcessError` if that process does not, or died over it.
    """
    return await _or_nothing(_adopted(fork))


async def _or_nothing(start: Awaitable[Supervised]) -> Supervised:
    """Wait for a start; if nobody wants it any more, it ends at once."""
    starting = asyncio.ensure_future(start)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(ChildProcessError):
            await (await starting).kill()
        raise


async def _adopted(fork: Fork) -> Supervised:
    mark = marks.new()
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            await fork(theirs.fileno(), mark)
    except OSError as error:
        ours.close()
        raise ChildProcessError("nobody is there to fork the command") from error
    reader, writer = await asyncio.open_connection(sock=ours)
    match (await reader.readline()).split():
        case [b"guarding", pid]:
            supervised = Supervised(guardian=int(pid), reader=reader, writer=writer, mark=mark)
        case _:
            writer.close()
            raise ChildProcessError("the command was not forked")
    await supervised.started()
    return supervised


async def _started(guardian: subprocess.Popen[bytes], ours: socket.socket, mark: str) -> Supervised:
    reader, writer = await asyncio.open_connection(sock=ours)
    supervised = Supervised(guardian=guardian.pid, process=guardian, reader=reader, writer=writer, mark=mark)
    await supervised.started()
    return supervised


def _find(command: str, *, env: Mapping[str, str], cwd: Path) -> str:
    program = shutil.which(command, path=env.get("PATH", os.defpath))
    if program is None:
        raise FileNotFoundError(f"cannot run {command!r}: not found on PATH or not executable")
    if not cwd.is_dir():
        raise NotADirectoryError(f"cannot run {command!r} in {cwd}: there is no such folder")
    return program
