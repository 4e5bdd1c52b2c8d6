"""The processes of the functions: functions-framework under a supervisor, forked from one fork server.

One that ends by itself is started again at the same place, as Cloud Run starts an instance in place of one
that died; what was pushed to it in between comes again.
"""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from localcloud.access import owner
from localcloud.deployment.fork_server import ForkServer
from localcloud.deployment.front import Front
from localcloud.deployment.manifest import Function, Manifest
from localcloud.limits import OFF, Limits
from localcloud.listener import HOST
from localcloud.place import Place
from localcloud.supervisor import Supervised, start
from localcloud.surroundings import without_settings

START_WITHIN = timedelta(seconds=60)
"""A cold start takes a second; a first one on a loaded machine, nothing compiled, some more."""
STOP_GRACE = timedelta(seconds=3)
REST = timedelta(milliseconds=100)
"""Between a function's end and its next start, lest one that cannot live takes the whole machine."""


@dataclass(kw_only=True)
class Kept:
    """A function that is kept running. `starts` counts them, the first included."""

    function: Function
    place: Place
    process: Supervised
    starts: int = 1

    @property
    def url(self) -> str:
        """The same in full."""
        return url_of(self.place)


class Processes:
    """Starts every function of a manifest, keeps it running, and knows where each listens and logs.

    Of `secrets` a function gets those that its row names, and of this machine's own environment no others.
    `own` is what each is told beyond that, by its name; `limits` gives those in force.
    """

    def __init__(
        self,
        *,
        manifest: Manifest,
        logs: Path,
        secrets: Mapping[str, str] | None = None,
        own: Mapping[str, Mapping[str, str]] | None = None,
        limits: Callable[[], Limits] = lambda: OFF,
    ) -> None:
        self._manifest = manifest
        self._own = own or {}
        self._secrets = secrets or {}
        self._environment: Mapping[str, str] = {}
        self._logs = logs
        self._places = {function.name: Place() for function in manifest.functions}
        # Not in the state folder: the path of a Unix socket has 107 characters at most.
        self._sockets = tempfile.TemporaryDirectory(prefix="spotwarden-", ignore_cleanup_errors=True)
        self._fronts = {
            function.name: Front(
                function, self._places[function.name], Path(self._sockets.name), limits=limits
            )
            for function in manifest.functions
        }
        self._keeping: list[asyncio.Task[None]] = []
        self.fork_server: ForkServer | None = None
        self.kept: dict[str, Kept] = {}

    @property
    def urls(self) -> Mapping[str, str]:
        """Where each function answers, or will once it is started."""
        return {name: url_of(place) for name, place in self._places.items()}

    async def start(self, environment: Mapping[str, str]) -> None:
        """Start all; when this returns, each answers. `RuntimeError` names the one that does not."""
        self._environment = environment
        self._logs.mkdir(parents=True, exist_ok=True)
        mains = [self._folder(function) / "main.py" for function in self._manifest.functions]
        self.fork_server = await ForkServer.grow(
            mains, env=self._everybodys(), log=self._logs / "fork_server.log"
        )
        await asyncio.gather(*(front.start() for front in self._fronts.values()))
        await asyncio.gather(*(self._start(function) for function in self._manifest.functions))

    async def stop(self) -> None:
        """End all; when this returns, none is left."""
        await self._unwatch()
        await asyncio.gather(*(kept.process.terminate(STOP_GRACE) for kept in self.kept.values()))
        if self.fork_server:
            await self.fork_server.stop()
        await asyncio.gather(*(front.stop() for front in self._fronts.values()))
        for place in self._places.values():
            place.close()
        self._sockets.cleanup()

    async def restart(self) -> None:
        """Start all anew, at the same places; when this returns, each answers.

        They are killed: whoever wants them to end what they do waits for that first.
        """
        await self._unwatch()
        await asyncio.gather(*(self._again(kept) for kept in self.kept.values()))

    def log_of(self, function: Function) -> Path:
        """The file that holds what a function writes."""
        return self._logs / f"{function.deployed_name}.log"

    async def _start(self, function: Function) -> None:
        place = self._places[function.name]
        kept = Kept(function=function, place=place, process=await self._run(function, place))
        self.kept[function.name] = kept
        await self._answers(function, kept.process)
        self._watch(kept)

    async def _again(self, kept: Kept) -> None:
        await kept.process.kill()
        kept.process = await self._run(kept.function, kept.place)
        kept.starts += 1
        await self._answers(kept.function, kept.process)
        self._watch(kept)

    async def _unwatch(self) -> None:
        """Let nobody start again what ends."""
        keeping, self._keeping = self._keeping, []
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)

    def _watch(self, kept: Kept) -> None:
        self._keeping.append(asyncio.create_task(self._keep(kept), name=f"keep {kept.function.name}"))

    async def _keep(self, kept: Kept) -> None:
        while True:
            await kept.process.wait()
            await kept.process.kill()
            await asyncio.sleep(REST.total_seconds())
            kept.process = await self._run(kept.function, kept.place)
            kept.starts += 1

    async def _run(self, function: Function, place: Place) -> Supervised:
        folder = self._folder(function)
        arguments = ["--source", str(folder / "main.py"), "--target", function.name]
        host = self._fronts[function.name].host
        arguments += ["--signature-type", function.signature, "--host", host, "--port", str(place.port)]
        environment = self._environment_of(function)
        with self.log_of(function).open("ab") as log:
            if self.fork_server:
                with contextlib.suppress(ChildProcessError):
                    return await self.fork_server.branch(arguments, env=environment, cwd=folder, log=log)
            argv = [sys.executable, "-m", "functions_framework", *arguments]
            return await start(argv, env=environment, cwd=folder, stdout=log, stderr=log)

    def _folder(self, function: Function) -> Path:
        return self._manifest.folder.parent / "functions" / function.name

    def _everybodys(self) -> Mapping[str, str]:
        """This machine's environment without anybody's secrets, and ours."""
        secret = {name for function in self._manifest.functions for name in function.secrets}
        machines = {name: value for name, value in without_settings(os.environ).items() if name not in secret}
        # gunicorn's control socket is there; else in the home folder, where it replaces any other gunicorn's.
        return {**machines, **self._environment, "XDG_RUNTIME_DIR": self._sockets.name}

    def _environment_of(self, function: Function) -> Mapping[str, str]:
        every = {**without_settings(os.environ), **self._secrets}
        told = {name: every[name] for name in function.secrets if name in every}
        own = {"FUNCTION_TARGET": function.name, "K_SERVICE": function.deployed_name}
        mine = self._own.get(function.name, {})
        return {**self._everybodys(), **mine, **told, **own}

    async def _answers(self, function: Function, process: Supervised) -> None:
        front = self._fronts[function.name]
        ended = asyncio.create_task(process.wait())
        try:
            async with asyncio.timeout(START_WITHIN.total_seconds()):
                while not ended.done() and not await _connects(front.socket):
                    await asyncio.wait([ended], timeout=0.02)
        except TimeoutError:
            pass
        if ended.done() or not await _connects(front.socket):
            raise RuntimeError(f"the function {function.name} did not start; see {self.log_of(function)}")
        ended.cancel()


def url_of(place: Place) -> str:
    """The URL of whoever listens there."""
    return f"http://{HOST}:{place.port}{owner().prefix}"


async def _connects(place: Path) -> bool:
    try:
        _, writer = await asyncio.open_unix_connection(place)
    except OSError:
        return False
    writer.close()
    return True
