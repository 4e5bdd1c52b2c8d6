"""A project in memory with jobs that `reap_vms` looks at."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import msgspec

from spotwarden.engine.context import SweepContext
from spotwarden.governance.reap.gather import gather
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.layout import (
    AttemptRecord,
    Heartbeat,
    InstanceId,
    LaunchedRecord,
    OpenJob,
    Output,
    StatusCode,
)
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.fleet import ATTEMPT_LABEL, JOB_LABEL
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.ports import Cloud
from tests.governance.governed import GovernedWorld

DAY = timedelta(days=1)
AT_REST = 0.5
"""What a VM's own agents take of its CPUs, in percent."""


class ReapWorld(GovernedWorld):
    """Jobs are on record as recovery writes them down; ops enforce."""

    def __init__(self, module: ModuleType, **policy: Any) -> None:
        super().__init__("reap_vms", module.sweep, **policy)

    def vm(self, job: str = "test-vm", *, attempt: int = 1, labelled: bool = True, **facts: Any) -> str:
        """A VM of a job, a day old unless told otherwise; gives its id."""
        labels = {JOB_LABEL: job, ATTEMPT_LABEL: str(attempt)} if labelled else {}
        labels |= facts.pop("labels", {})
        name = facts.pop("name", job)
        made = self.cloud.compute.add(name, labels=labels, **{"age": DAY, **facts})
        self.cloud.metrics.cpu[made] = AT_REST
        return made

    def job(self, job: str = "test-vm", *, nodes: Collection[str] = (), **facts: Any) -> dict[str, str]:
        """A job whose first attempt has been running for a day; gives the ids by node."""
        ids = {node: self.vm(job, name=node, **facts) for node in nodes or (job,)}
        self.attempt(job, instances=ids)
        self.watch(job, ids)
        return ids

    def attempt(self, job: str = "test-vm", number: int = 1, **facts: Any) -> None:
        """A record of the ledger."""
        began = self.now - DAY
        ordinary = {"state": AttemptState.RUNNING, "created": began, "updated": began, "owner": "ann@x.org"}
        record = Attempt(**{"job": job, "number": number, **ordinary, **facts})
        self.store(AttemptRecord(job=job, attempt=number), msgspec.json.encode(record), shown=True)

    def watch(self, job: str, ids: Mapping[str, str], number: int = 1) -> None:
        """An entry in the list of open jobs."""
        entry = Watch(job=job, attempt=number, instances=ids, recorded=True)
        self.store(OpenJob(job=job), msgspec.json.encode(entry))

    def unwatch(self, job: str) -> None:
        """Take a job off the list of open jobs."""
        self.remove(OpenJob(job=job))

    def remove(self, thing: Any) -> None:
        """Delete an object."""
        name = self.layout.build(thing)
        stored = self.cloud.store.read(name)
        assert stored is not None
        self.cloud.store.delete(name, generation=stored.generation)

    def end(self, job: str = "test-vm", code: str = "0", **metadata: str) -> None:
        """The job writes its status, with this beside it."""
        self.cloud.store.put(self.layout.build(StatusCode(job=job)), code.encode(), metadata)

    def id_of(self, node: str = "test-vm", job: str = "test-vm", attempt: int = 1) -> str:
        """The id of a node's VM in an attempt, by its record, else by the list of open jobs."""
        names = [
            self.layout.build(AttemptRecord(job=job, attempt=attempt)),
            self.layout.build(OpenJob(job=job)),
        ]
        stored = next(found for name in names if (found := self.cloud.store.read(name)))
        return str(msgspec.json.decode(stored.data)["instances"][node])

    def beat(self, node: str = "test-vm", job: str = "test-vm") -> None:
        """The training loop of a node writes a heartbeat, since it has got on."""
        self.store(Heartbeat(job=job, node=node))

    def report(self, progress: datetime, node: str = "test-vm", job: str = "test-vm", **more: Any) -> None:
        """The job kit on a node writes a heartbeat, as it always does: its program got on last then."""
        said: dict[str, Any] = {"at": self.now, "progress_at": progress, "attempt": 1, **more}
        self.store(Heartbeat(job=job, node=node), msgspec.json.encode(said))

    def produce(self, job: str = "test-vm", path: str = "log.txt") -> None:
        """The job writes something below `output/`."""
        self.store(Output(job=job, path=path))

    def register(self, node: str, instance_id: str, job: str = "test-vm") -> None:
        """The id of a node is written into the job's metadata."""
        self.store(InstanceId(job=job, node=node), instance_id.encode())

    def had(self, link: str, job: str = "test-vm", attempt: int = 1) -> None:
        """A VM of the job is on record with the disk of this link."""
        ran = {job: {"disks": {"data": {"id": link.rpartition("/")[2]}}}}
        self.store(LaunchedRecord(job=job, attempt=attempt), msgspec.json.encode(ran))

    def context(self, cloud: Cloud | None = None) -> SweepContext:
        """What a sweep works with."""
        tick = Tick(function="reap_vms", sweep="sweep-0", now=self.now)
        return SweepContext.open(cloud or self.cloud.ports(), self.settings, self.policy, tick)

    def look(self, *only: str, cloud: Cloud | None = None) -> ReapFacts:
        """One look, at everything or at these ids and links."""
        return gather(self.context(cloud), only)


class Calls:
    """Counts the calls of a cloud, by name, and lets something happen before one of them."""

    def __init__(self, cloud: Cloud, *, before: int = -1, happen: Any = None) -> None:
        self.made: list[tuple[str, object]] = []
        self._before, self._happen = before, happen
        self.cloud = Cloud(
            store=self._around(cloud.store),
            compute=self._around(cloud.compute),
            notices=cloud.notices,
            metrics=self._around(cloud.metrics),
        )

    def of(self, name: str) -> list[object]:
        """What the calls of this name were about."""
        return [about for call, about in self.made if call == name]

    def _around(self, port: Any) -> Any:
        return _Counted(port, self._next)

    def _next(self, call: str, about: object) -> None:
        if len(self.made) == self._before:
            self._happen()
        self.made.append((call, about))


class _Counted:
    def __init__(self, port: Any, count: Any) -> None:
        self._port, self._count = port, count

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*args: Any, **named: Any) -> Any:
            self._count(name, args[0] if args else named)
            return method(*args, **named)

        return call
