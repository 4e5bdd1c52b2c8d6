"""The guest agent: runs the scripts that the metadata holds, as Google's does on Compute Engine.

Each script is written to a file and given to bash unmodified, so its shebang decides who reads it. Order
(the script itself, then the one at a URL) and wording follow Google's `google_metadata_script_runner`.
"""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from localcloud.machines.download import DownloadError
from localcloud.machines.folder import Folder
from localcloud.machines.tee import Tee
from localcloud.supervisor import Supervised

SCRIPT_MODE = 0o755
PROCESS = "google_metadata_script_runner"

Start = Callable[[Sequence[str], int], Awaitable[Supervised]]
"""Start a command of this machine with its output to a file descriptor."""

Fetch = Callable[[str], Awaitable[str]]
"""Get the text at a URL, or raise `DownloadError`."""

Say = Callable[[str, str], None]
"""Say a message on the console as a process: name with number, message."""


class Agent:
    """Runs the scripts of one machine from one boot to the next.

    `begun` is set once the first script has been started or is being fetched, or when there is none.
    """

    def __init__(self, folder: Folder, *, start: Start, fetch: Fetch, say: Say) -> None:
        self.begun = asyncio.Event()
        self._folder = folder
        self._start = start
        self._fetch = fetch
        self._say_as = say
        self._tees: list[Tee] = []

    async def run(self, phase: str, attributes: Mapping[str, str]) -> None:
        """Run the scripts of a phase, `startup` or `shutdown`, one after the other."""
        keys = [key for key in (f"{phase}-script", f"{phase}-script-url") if attributes.get(key)]
        self._say(f"Starting {phase} scripts (local cloud)." if keys else f"No {phase} scripts to run.")
        try:
            for key in keys:
                await self._run_one(key, attributes[key], self._folder.logs / f"{phase}.log")
        finally:
            self.begun.set()
        if keys:
            self._say(f"Finished running {phase} scripts.")

    def close(self) -> None:
        """Take what is left of all output, when no process of the machine lives any more."""
        for tee in self._tees:
            tee.close()
        self._tees.clear()

    async def _run_one(self, key: str, value: str, log: Path) -> None:
        self._say(f"Found {key} in metadata.")
        if key.endswith("-url"):
            self.begun.set()
            try:
                value = await self._fetch(value.strip())
            except DownloadError as error:
                self._say(f"{key}: cannot download {error}")
                return
        await self._execute(key, value, log)

    async def _execute(self, key: str, script: str, log: Path) -> None:
        folder = Path(tempfile.mkdtemp(prefix="metadata-scripts", dir=self._folder.temporary))
        path = folder / key
        path.write_text(script, encoding="utf-8", newline="")
        path.chmod(SCRIPT_MODE)
        tee = Tee(log, lambda line: self._say(f"{key}: {line}"))
        self._tees.append(tee)
        try:
            supervised = await self._start(["bash", "-c", shlex.quote(str(path))], tee.writer)
        finally:
            tee.started()
        self.begun.set()
        status = await supervised.wait()
        tee.drain()
        shutil.rmtree(folder, ignore_errors=True)
        self._say(f"{key} exit status {status if status >= 0 else 128 - status}")

    def _say(self, message: str) -> None:
        self._say_as(f"{PROCESS}[{os.getpid()}]", message)
