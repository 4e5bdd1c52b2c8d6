"""All services in one loop: made here, joined here, started and stopped in the right order."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

import grpc
import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.access import owner
from localcloud.access.services import SERVICES
from localcloud.clock import Clock
from localcloud.compute import ComputeService, Pace, Timings
from localcloud.deployed import DeployedService
from localcloud.deployment import Where
from localcloud.endpoints import Endpoints
from localcloud.faults import Faults, RetryMiddleware, RetryTests
from localcloud.functions import Deployment, RunningFunctions
from localcloud.grpc_server import GrpcServer
from localcloud.http import Listener, build_app
from localcloud.identity import Identity
from localcloud.limits import OFF, CallLimits, InsertTimes, LateLog, Limits, LimitsBook
from localcloud.logs import LogService
from localcloud.machines import NoMachines, ProcessMachines
from localcloud.mailbox import NOTICES, Mailbox
from localcloud.monitoring import MonitoringService
from localcloud.outbound import Outbound
from localcloud.permissions import OWNER, checked_routes
from localcloud.permissions.denials import Denials, DenialsMiddleware
from localcloud.permissions.doors import Doors
from localcloud.private import tighten
from localcloud.project import number_of
from localcloud.projects import ProjectService
from localcloud.pubsub import PubSubService
from localcloud.pubsub.fault_injection import PubSubFault
from localcloud.scheduler import SchedulerService
from localcloud.service_accounts import ServiceAccounts
from localcloud.settling import Settling
from localcloud.storage import StorageService
from localcloud.storage.emulator import EmulatorPaths
from localcloud.storage.xmlapi import XmlPaths
from localcloud.supervisor import sweep_leftovers
from localcloud.travel import Travel


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to start: port 0 takes any; `state` holds the bucket, the VMs' folders and the logs.

    Without `machines` no process stands behind a VM: it boots and ends at once, and none of its scripts runs.
    """

    project: str
    state: Path
    http_port: int = 0
    grpc_port: int = 0
    metric_period: timedelta = timedelta(seconds=60)
    machines: bool = True
    umask: int = -1
    """That of the processes in VMs; -1 for our own."""
    limits: Limits = OFF


class LocalCloud:
    """One local cloud. `async with` starts it and leaves nothing behind."""

    def __init__(self, options: Options) -> None:
        self._options = options
        tighten(options.state)
        project, clock = options.project, Clock()
        self._clock = clock
        self._outbound = Outbound()
        self.limits = LimitsBook(options.limits)
        self.functions = RunningFunctions(state=options.state, limits=lambda: self.limits.now)
        self.travel = Travel(
            clock, note=options.state / "ahead", skipped=self._skipped, cut_off=self.functions.restart
        )
        post = self.travel.held(self._outbound.post)
        self.travel.recall()
        self.faults = Faults(now=clock.elapsed)
        self.denials = Denials()
        self.mailbox = Mailbox(clock=clock)
        self.monitoring = MonitoringService(project=project, clock=clock, limits=lambda: self.limits.now)
        self.pubsub = PubSubService(project=project, clock=clock, post=post)
        self.logs = LogService(project=project, clock=clock, publish=self.pubsub.publish)
        self.scheduler = SchedulerService(
            project=project, clock=clock, publish=self.pubsub.publish, post=post
        )
        self.late_log = LateLog(self.logs.write, lambda: self.limits.now, pause=clock.pause)
        self.settling = Settling(fire=self.scheduler.fire_due, at_work=self._at_work)
        self.storage = StorageService(
            project=project,
            folder=options.state / "storage",
            publish=self.pubsub.publish,
            clock=clock,
            base_url=self._url,
            limits=lambda: self.limits.now,
        )
        self.machines = self._machines(clock) if options.machines else NoMachines()
        self.compute = self._compute(options, clock)
        number = number_of(project)
        self.projects = ProjectService(project=project, number=number, owner=OWNER, clock=clock)
        self.accounts = ServiceAccounts(project=project, number=number)
        self.deployed = DeployedService(project=project, clock=clock, running=self.functions.deployed)
        handlers = [*self.pubsub.handlers(), *self.monitoring.handlers()]
        limits = CallLimits(
            lambda: self.limits.now, now=clock.now, consumer=lambda: self.compute.project_number
        )
        self.doors = Doors(handlers=handlers, faults=self.faults, limits=limits)
        self.app = self._app(limits)
        self._http = Listener(self.app, port=options.http_port, rules=SERVICES)
        self._grpc = self._grpc_server(options.grpc_port, handlers, limits)
        self.limits.follow(self._limit)
        self._undo = contextlib.AsyncExitStack()

    def _grpc_server(
        self, port: int, handlers: Sequence[grpc.GenericRpcHandler], limits: CallLimits
    ) -> GrpcServer:
        enter = self.denials.apply
        return GrpcServer(handlers, faults=self.faults, port=port, limits=limits, enter=enter)

    def _app(self, limits: CallLimits) -> Starlette:
        """All services, behind what each call passes on its way to them."""
        retries = RetryTests()
        around = [
            Middleware(EmulatorPaths),
            Middleware(XmlPaths, has_bucket=self.storage.has_bucket, now=self._clock.now),
            *limits.middleware(),
            Middleware(RetryMiddleware, tests=retries),
            Middleware(DenialsMiddleware, denials=self.denials),
        ]
        return build_app([*self._routes(), *retries.routes()], faults=self.faults, middleware=around)

    def _compute(self, options: Options, clock: Clock) -> ComputeService:
        return ComputeService(
            project=options.project,
            clock=clock,
            machines=self.machines,
            audit=self.late_log.write,
            base_url=self._url,
            timings=Timings(),
            pace=Pace(pause=clock.pause, elapsed=clock.elapsed),
            insert_time=InsertTimes(lambda: self.limits.now).draw,
        )

    def _machines(self, clock: Clock) -> ProcessMachines:
        return ProcessMachines(
            folder=self._options.state / "vms",
            clock=clock,
            environment=self._vm_environment,
            measure=self.monitoring.measure,
            on_poweroff=self._powered_off,
            metric_period=self._options.metric_period,
            write=self.logs.write,
            umask=self._options.umask,
        )

    @property
    def endpoints(self) -> Endpoints:
        """Where it listens."""
        return Endpoints(
            http=self._http.url,
            grpc=f"127.0.0.1:{self._grpc.port}",
            project=self._options.project,
            home=self._options.state / "home",
            token=owner().token,
        )

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._undo.aclose()
            raise
        return self

    async def _start(self) -> None:
        """Start what others need first; what was started is stopped in the reverse order."""
        self._options.state.mkdir(parents=True, exist_ok=True)
        self.travel.write_down()
        sweep_leftovers()
        self._later(self._outbound.close)
        self._later(self.storage.close)
        await self.mailbox.start()
        self._later(self.mailbox.stop)
        await self._grpc.start()
        self._later(self._grpc.stop)
        await self._http.start()
        self._later(self._http.stop)
        self._later(self.doors.close)
        self._later(self.pubsub.close)
        self._later(self.scheduler.close)
        self._later(self.machines.close)
        self._later(self.late_log.close)
        self._later(self.compute.close)
        self.endpoints.prepare()

    async def __aexit__(self, *_exc: object) -> None:
        await self._undo.aclose()

    def _later(self, undo: Callable[[], Awaitable[None] | None]) -> None:
        async def run() -> None:
            result = undo()
            if result is not None:
                await result

        self._undo.push_async_callback(run)

    async def deploy(self, deployment: Deployment) -> None:
        """Start the functions and wire them to this cloud."""
        manifest = deployment.manifest
        where = Where(project=self._options.project, bucket=deployment.bucket, prefix=deployment.prefix)
        own = await self.doors.open(self.app, manifest, where, home=self.endpoints.home)
        self._later(self.functions.stop)
        await self.functions.start(
            deployment,
            where,
            own=own,
            mail_port=self.mailbox.port,
            environment=self._function_environment,
        )
        await self.functions.wire(manifest, where, base=self._http.url)

    def client_environment(self) -> Mapping[str, str]:
        """What a client of this cloud sets, the settings of our own functions and commands included."""
        ahead = self._clock.ahead.total_seconds()
        return {**self._vm_environment(), **({"SPOTWARDEN_CLOCK_AHEAD": f"{ahead:f}"} if ahead else {})}

    def _function_environment(self) -> Mapping[str, str]:
        """The same with the file that says the time: a function goes on while the cloud travels."""
        return {**self._vm_environment(), "SPOTWARDEN_CLOCK_FILE": str(self.travel.note.absolute())}

    def _vm_environment(self) -> Mapping[str, str]:
        """The same without the time: what runs in a VM goes by this machine's."""
        return {**self.endpoints.environment(), **self.functions.settings}

    def _at_work(self) -> int:
        return self.pubsub.at_work() + self.late_log.at_work()

    def _limit(self, limits: Limits) -> None:
        """Tell the services what changed of the limits that they do not ask for."""
        usual = PubSubFault(
            double=limits.doubled,
            reorder=limits.late if limits.late_seconds else 0.0,
            reorder_seconds=limits.late_seconds or 1.0,
            seed=limits.seed,
        )
        self.pubsub.befall_usually(usual, spared=NOTICES)
        self.compute.knobs.limit_rates(limits.api_quotas)
        self.compute.knobs.let_the_log_lag_as_usual(timedelta(seconds=limits.log_lag_seconds))

    def _skipped(self, since: datetime, until: datetime) -> None:
        resources = self.compute.knobs.instances()
        running = {str(resource["id"]) for resource in resources if resource["status"] == "RUNNING"}
        self.monitoring.carry_on(running, since, until)

    def _powered_off(self, instance_id: str) -> None:
        self.compute.guest_poweroff(instance_id)

    def _url(self) -> str:
        return self._http.url

    def _routes(self) -> list[BaseRoute]:
        checked = (
            self.storage,
            self.compute,
            self.logs,
            self.scheduler,
            self.projects,
            self.accounts,
            self.deployed,
        )
        services = (self.pubsub, self.monitoring)
        identity = Identity(project=self._options.project)
        knobs = (
            self.compute,
            self.machines,
            self.storage,
            self.pubsub,
            self.monitoring,
            self.scheduler,
            self.travel,
            self.settling,
        )
        admin = [route for service in knobs for route in service.admin_routes()]
        return [
            *checked_routes(route for service in checked for route in service.routes()),
            *(route for service in services for route in service.routes()),
            *self.deployed.undone(),
            *admin,
            *self.functions.admin_routes(),
            *self.faults.admin_routes(),
            *self.denials.admin_routes(),
            *self.limits.admin_routes(),
            *self.mailbox.routes(),
            *identity.routes(),
            *self.doors.admin_routes(),
            Route("/local/env", self._env),
        ]

    async def _env(self, _request: Request) -> Response:
        return JSONResponse(dict(self.client_environment()))
