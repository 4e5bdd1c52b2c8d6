"""A job that speaks: its ledger, its VMs' lines, its stored logs, and a command that reads them."""

from datetime import timedelta
from pathlib import Path

import msgspec

from spotwarden.cli.context import Context
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.settings import Settings
from spotwarden.layout import AttemptRecord, InstanceId, Layout, LogFile, ObjectName, RunRecord, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.fleet import Fleet, Machine
from spotwarden.model.instance import Instance, Instances, Status
from spotwarden.model.policy import Policy
from spotwarden.ports import Logs, Transfers
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.files import MemoryFiles
from tests.fakes.logs import MemoryLogs

JOB = "train"


class Listening(Context, frozen=True, kw_only=True):
    """A context whose Cloud Logging is in memory."""

    heard: MemoryLogs
    shelf: MemoryFiles

    def logs(self) -> Logs:
        """As `Context.logs`."""
        return self.heard

    def files(self) -> Transfers:
        """As `Context.files`."""
        return self.shelf


class Speaker:
    """One job over its attempts; time passes only when `wait` says so."""

    def __init__(self, cloud: MemoryCloud | None = None) -> None:
        # Every bucket in memory counts its generations from one.
        GenerationCache.forget()
        self.cloud = cloud or memory_cloud()
        self.logs = MemoryLogs()
        self.files = MemoryFiles(self.cloud.store)
        self.layout = Layout()
        self._instances: list[Instance] = []
        self._machines: list[Machine] = []
        settings = Settings(
            project="p",
            bucket="b",
            notices="n",
            policy_file=Path("nowhere/policy.toml"),
            prices_file=Path(__file__).parents[2] / "infra" / "prices.toml",
            logging_endpoint="http://127.0.0.1:1",
        )
        self.context = Listening(
            settings=settings,
            policy=Policy(version="t"),
            cloud=self.cloud.ports(),
            heard=self.logs,
            shelf=self.files,
        )

    def up(self, instance_id: str, zone: str = "us-central1-a", job: str = JOB) -> None:
        """Have a VM run."""
        vm = Instance(id=instance_id, name=job, zone=zone, status=Status.RUNNING)
        self._instances.append(vm)
        self._machines.append(
            Machine(
                id=instance_id,
                name=job,
                zone=zone,
                status=Status.RUNNING,
                machine_type="g2-standard-8",
                created=self.cloud.clock.now(),
            )
        )
        vars(self.cloud.compute)["instances"] = lambda **_: Instances(items=tuple(self._instances))
        vars(self.cloud.compute)["fleet"] = lambda **_: Fleet(items=tuple(self._machines))

    def put(self, thing: ObjectName, data: bytes | str) -> None:
        """Write an object."""
        raw = data.encode() if isinstance(data, str) else data
        self.cloud.store.write(self.layout.build(thing), raw, generation=None)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(seconds=seconds))

    def attempt(
        self,
        number: int,
        *nodes: str,
        state: AttemptState = AttemptState.RUNNING,
        zone: str = "us-central1-a",
        job: str = JOB,
        **more: object,
    ) -> Attempt:
        """Put an attempt on record; a node's instance id is the attempt's number and the node's place."""
        now = self.cloud.clock.now()
        instances = {node: f"{number}{place}" for place, node in enumerate(nodes or (job,), 1)}
        record = Attempt(
            job=job,
            number=number,
            state=state,
            created=now,
            updated=now,
            started=now,
            instances=instances if state is AttemptState.RUNNING else {},
            tries=(Try(place=zone, request_id="r", at=now),),
        )
        record = msgspec.structs.replace(record, **more)
        name = self.layout.build(AttemptRecord(job=job, attempt=number))
        self.cloud.store.write(name, msgspec.json.encode(record), generation=None)
        return record

    def say(self, instance_id: str, *texts: str) -> None:
        """Have a VM print lines now."""
        self.logs.say(instance_id, self.cloud.clock.now(), *texts)

    def store(self, attempt: int, text: str, node: str = JOB) -> None:
        """Have the job kit store its log."""
        name = self.layout.build(LogFile(job=JOB, node=node, attempt=attempt))
        self.cloud.store.write(name, text.encode(), generation=None)

    def register(self, node: str, instance_id: str) -> None:
        """Have a VM say which one it is."""
        name = self.layout.build(InstanceId(job=JOB, node=node))
        self.cloud.store.write(name, instance_id.encode(), generation=None)

    def end(self, status: str, job: str = JOB) -> None:
        """Have the job end."""
        self.put(StatusCode(job=job), status)


def four_jobs(speaker: Speaker) -> None:
    """Four jobs, started a minute after each other: one runs, one recovers, one failed, one ended."""
    speaker.attempt(1, job="exp-a", owner="ada@example.com", instances={"exp-a": "11"})
    speaker.up("11", job="exp-a")
    speaker.put(RunRecord(job="exp-a"), '{"tags": {"team": "vision", "try": "1"}}')
    speaker.wait(60)
    speaker.attempt(1, job="exp-b", owner="bob@example.com", instances={"exp-b": "12"})
    speaker.attempt(2, job="exp-b", owner="bob@example.com", state=AttemptState.PLACING)
    speaker.put(RunRecord(job="exp-b"), '{"tags": {"team": "speech"}}')
    speaker.wait(60)
    speaker.attempt(1, job="other-c", owner="ada@example.com", instances={"other-c": "13"})
    speaker.wait(60)
    speaker.end("2", "other-c")
    speaker.attempt(1, job="other-d", owner="eve@example.com", instances={"other-d": "14"})
    speaker.end("0", "other-d")
