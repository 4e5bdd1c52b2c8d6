"""The functions that run in a local cloud: what to run, their processes, and what is shown of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.deployed import DeployedFunction
from localcloud.deployment import Manifest, Processes, Where, secrets, settings, wire
from localcloud.limits import Limits

Environment = Mapping[str, str]


class Deployment(msgspec.Struct, frozen=True, kw_only=True):
    """The functions to run, what they watch, and secrets that they are told beside the local cloud's own."""

    manifest: Manifest
    bucket: str
    policy: Path
    prefix: str = ""
    confided: Mapping[str, str] = {}


class RunningFunctions:
    """Those of one deployment, if there is any; `limits` gives those in force.

    `settings` is what their environment, and that of every client, says of the deployment.
    """

    def __init__(self, *, state: Path, limits: Callable[[], Limits]) -> None:
        self._state = state
        self._limits = limits
        self.processes: Processes | None = None
        self.settings: Environment = {}

    async def start(
        self,
        deployment: Deployment,
        where: Where,
        *,
        own: Mapping[str, Environment],
        mail_port: int,
        environment: Callable[[], Environment],
    ) -> None:
        """Start their processes, `own` of each being what it alone is told."""
        manifest = deployment.manifest
        self.processes = Processes(
            manifest=manifest,
            logs=self._state / "logs",
            secrets={**deployment.confided, **secrets(self._state, mail_port=mail_port)},
            own=own,
            limits=self._limits,
        )
        self.settings = settings(manifest, where, policy=deployment.policy, urls=self.processes.urls)
        await self.processes.start(environment())

    async def wire(self, manifest: Manifest, where: Where, *, base: str) -> None:
        """Let their events come to them, by the services at `base`."""
        if self.processes is not None:
            await wire(manifest, where, base=base, urls=self.processes.urls)

    async def restart(self) -> None:
        """Start them anew, if they run."""
        if self.processes is not None:
            await self.processes.restart()

    async def stop(self) -> None:
        """End their processes, if there are any."""
        if self.processes is not None:
            await self.processes.stop()

    def deployed(self) -> Sequence[DeployedFunction]:
        """The functions whose processes are kept, as they are deployed."""
        kept = self.processes.kept if self.processes else {}
        return [
            DeployedFunction(
                name=item.function.deployed_name,
                entry_point=name,
                url=item.url,
                memory=item.function.memory,
                timeout_seconds=item.function.timeout_seconds,
                topic="" if item.function.signature == "http" else item.function.topic,
            )
            for name, item in sorted(kept.items())
        ]

    def admin_routes(self) -> list[BaseRoute]:
        """`GET /local/functions`: their processes."""
        return [Route("/local/functions", self._show)]

    async def _show(self, _request: Request) -> Response:
        kept = self.processes.kept if self.processes else {}
        shown = [
            {"name": name, "url": item.url, "pid": item.process.pid, "starts": item.starts}
            for name, item in kept.items()
        ]
        return JSONResponse({"functions": shown})
