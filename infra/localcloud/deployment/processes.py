"""The processes of the functions, each under functions-framework and on a leash."""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from localcloud.deployment.manifest import Function, Manifest
from localcloud.leash import Leashed, start

HOST = "127.0.0.1"
START_WITHIN = timedelta(seconds=60)
"""A cold start takes a second; a first one on a loaded machine, nothing compiled, some more."""
STOP_GRACE = timedelta(seconds=3)


class Processes:
    """Starts every function of a manifest and knows where each listens and logs."""

    def __init__(self, *, manifest: Manifest, environment: Mapping[str, str], logs: Path) -> None:
        self._manifest = manifest
        self._environment = environment
        self._logs = logs
        self._running: list[Leashed] = []
        self.urls: dict[str, str] = {}

    async def start(self) -> None:
        """Start all; when this returns, each answers. `RuntimeError` names the one that does not."""
        self._logs.mkdir(parents=True, exist_ok=True)
        await asyncio.gather(*(self._start(function) for function in self._manifest.functions))

    async def stop(self) -> None:
        """End all; when this returns, none is left."""
        await asyncio.gather(*(process.terminate(STOP_GRACE) for process in self._running))

    def log_of(self, function: Function) -> Path:
        """The file that holds what a function writes."""
        return self._logs / f"{function.deployed_name}.log"

    async def _start(self, function: Function) -> None:
        port = free_port()
        folder = self._manifest.folder.parent / "functions" / function.name
        argv = [sys.executable, "-m", "functions_framework", "--source", str(folder / "main.py")]
        argv += ["--target", function.name, "--signature-type", "cloudevent"]
        argv += ["--host", HOST, "--port", str(port)]
        environment = {**os.environ, **self._environment, "FUNCTION_TARGET": function.name}
        with self.log_of(function).open("ab") as log:
            process = await start(argv, env=environment, cwd=folder, stdout=log, stderr=log)
        self._running.append(process)
        await self._answers(function, process, port)
        self.urls[function.name] = f"http://{HOST}:{port}"

    async def _answers(self, function: Function, process: Leashed, port: int) -> None:
        ended = asyncio.create_task(process.wait())
        try:
            async with asyncio.timeout(START_WITHIN.total_seconds()):
                while not ended.done() and not await _connects(port):
                    await asyncio.wait([ended], timeout=0.02)
        except TimeoutError:
            pass
        if ended.done() or not await _connects(port):
            raise RuntimeError(f"the function {function.name} did not start; see {self.log_of(function)}")
        ended.cancel()


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


async def _connects(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    return True
