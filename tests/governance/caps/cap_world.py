"""A project under `cap_runtime`: jobs with ledgers, VMs, prices."""

from collections.abc import Callable
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord, JobFileName, OpenJob, UsageRecord
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.usage import UsageDay
from spotwarden.model.watch import Watch
from spotwarden.ports import Cloud
from tests.governance.governed import GovernedWorld

ADA = "ada@example.com"


class CapWorld(GovernedWorld):
    """Jobs of one VM each, launched when a test says so."""

    def __init__(self, module: ModuleType, **policy: Any) -> None:
        super().__init__("cap_runtime", module.sweep, **policy)

    def job(self, job: str = "train", *, owner: str = ADA, file: str = "", **machine: Any) -> str:
        """A job whose first attempt has just started; gives its VM's id."""
        if file:
            self.store(JobFileName(job=job), file.encode())
        made = self.vm(job, **machine)
        self.attempt(job, made, owner=owner)
        return made

    def gang(self, *names: str, job: str = "gang") -> list[str]:
        """A job whose first attempt has just started on VMs of these names; gives their ids."""
        nodes = {name: self.vm(job, name=name) for name in names}
        self.attempt(job, "", instances=nodes)
        return [*nodes.values()]

    def vm(self, job: str, *, name: str = "", attempt: int = 1, **machine: Any) -> str:
        """A VM of the job that starts now."""
        labels = {"spotwarden-job": job, "spotwarden-attempt": str(attempt)} if job else {}
        said = {"machine_type": "g2-standard-4", "gpus": 1, **machine}
        return self.cloud.compute.add(name or job, labels={**labels, **said.pop("labels", {})}, **said)

    def attempt(self, job: str, instance_id: str, number: int = 1, *, owner: str = ADA, **said: Any) -> None:
        """Write an attempt that has just started, as recovery does."""
        made = Attempt(
            job=job,
            number=number,
            state=AttemptState.RUNNING,
            created=self.now,
            updated=self.now,
            started=self.now,
            instances={job: instance_id},
            owner=owner,
        )
        data = msgspec.json.encode(replace(made, **said))
        self.store(AttemptRecord(job=job, attempt=number), data, shown=True)

    def write_down(self, job: str, **instances: str) -> None:
        """The ids of an open job's nodes, as recovery writes them."""
        watch = Watch(job=job, attempt=1, instances=instances, recorded=True)
        self.store(OpenJob(job=job), msgspec.json.encode(watch))

    def stop(self, instance_id: str) -> None:
        """The VM stands still."""
        self.cloud.compute.vms.become(instance_id, Status.TERMINATED)

    def start(self, instance_id: str) -> None:
        """And runs again, since now."""
        self.cloud.compute.vms.become(instance_id, Status.RUNNING)

    def day(self, at: datetime | None = None) -> UsageDay | None:
        """The record of a day's usage; of today where no moment is given."""
        name = self.layout.build(UsageRecord(day=(at or self.now).date()))
        stored = self.cloud.store.read(name)
        return None if stored is None else msgspec.json.decode(stored.data, type=UsageDay)

    def seconds(self, instance_id: str, at: datetime | None = None) -> int:
        """What a VM has used on a day."""
        record = self.day(at)
        found = record.vms.get(instance_id) if record else None
        return sum(run.seconds for run in found.runs) if found else 0

    def until(self, moment: datetime) -> None:
        """Let time pass without a tick."""
        self.wait(seconds=(moment - self.now).total_seconds())

    def midnight(self) -> datetime:
        """The next one."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


class Between:
    """A port after whose first call of `name` something happens, once."""

    def __init__(
        self, port: object, name: str, fits: Callable[..., bool], then: list[Callable[[], None]]
    ) -> None:
        self._port = port
        self._name = name
        self._fits = fits
        self._then = then

    def __getattr__(self, name: str) -> Any:
        """The port's own, but for the one call."""
        whole = getattr(self._port, name)
        if name != self._name:
            return whole

        def call(*args: Any, **said: Any) -> Any:
            answer = whole(*args, **said)
            if self._then and self._fits(*args):
                self._then.pop()()
            return answer

        return call


def between(cloud: Cloud, job: str, then: Callable[[], None]) -> Cloud:
    """The cloud, where something happens after the list of VMs or the job's records, whichever is first."""
    once, records = [then], f"{job}/metadata/"
    return replace(
        cloud,
        compute=Between(cloud.compute, "fleet", lambda *_: True, once),
        store=Between(cloud.store, "entries", lambda prefix: prefix == records, once),
    )
