"""A job that speaks: its ledger, its VMs' lines, its stored logs, and a command that reads them."""

from datetime import timedelta
from pathlib import Path

import msgspec

from spotwarden.cli.context import Context
from spotwarden.layout import AttemptRecord, InstanceId, Layout, LogFile, StatusCode
from spotwarden.model.attempt import Attempt, State, Try
from spotwarden.model.policy import Policy
from spotwarden.ports import Logs
from spotwarden.runner import Settings
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.logs import MemoryLogs

JOB = "train"


class Listening(Context, frozen=True, kw_only=True):
    """A context whose Cloud Logging is in memory."""

    heard: MemoryLogs

    def logs(self) -> Logs:
        """As `Context.logs`."""
        return self.heard


class Speaker:
    """One job over its attempts; time passes only when `wait` says so."""

    def __init__(self, cloud: MemoryCloud | None = None) -> None:
        self.cloud = cloud or memory_cloud()
        self.logs = MemoryLogs()
        self.layout = Layout()
        settings = Settings(
            project="p",
            bucket="b",
            notices="n",
            policy_file=Path("policy.toml"),
            logging_endpoint="http://127.0.0.1:1",
        )
        self.context = Listening(
            settings=settings, policy=Policy(version="t"), cloud=self.cloud.ports(), heard=self.logs
        )

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.cloud.clock.advance(timedelta(seconds=seconds))

    def attempt(
        self,
        number: int,
        *nodes: str,
        state: State = State.RUNNING,
        zone: str = "us-central1-a",
        **more: object,
    ) -> Attempt:
        """Put an attempt on record; a node's instance id is the attempt's number and the node's place."""
        now = self.cloud.clock.now()
        instances = {node: f"{number}{place}" for place, node in enumerate(nodes or (JOB,), 1)}
        record = Attempt(
            job=JOB,
            number=number,
            state=state,
            created=now,
            updated=now,
            started=now,
            instances=instances if state is State.RUNNING else {},
            tries=(Try(place=zone, request_id="r", at=now),),
        )
        record = msgspec.structs.replace(record, **more)
        name = self.layout.build(AttemptRecord(job=JOB, attempt=number))
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

    def end(self, status: str) -> None:
        """Have the job end."""
        self.cloud.store.write(self.layout.build(StatusCode(job=JOB)), status.encode(), generation=None)
