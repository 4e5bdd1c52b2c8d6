"""A Scheduler behind a real listener, on a clock that tests set, with topics that remember."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from localcloud.clock import Clock
from localcloud.rpc import RpcError
from localcloud.scheduler import SchedulerService
from tests.localcloud.stand import PROJECT, TIMEOUT, Stand, standing

NOW = datetime(2026, 11, 21, 8, 0, 30, tzinfo=UTC)


@dataclass
class Set(Clock):
    """A clock that stands where it is set."""

    moment: datetime = NOW

    def now(self) -> datetime:
        """The moment."""
        return self.moment


@dataclass
class Topics:
    """A Pub/Sub with one topic, that keeps what is published; the first `failures` are refused."""

    failures: int = 0
    told: list[tuple[bytes, Mapping[str, str]]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """As the `Publish` port."""
        if topic != f"projects/{PROJECT}/topics/tick":
            raise RpcError("NOT_FOUND", f"Resource not found (resource={topic.rpartition('/')[2]}).")
        if self.failures:
            with self.changed:
                self.failures -= 1
                self.changed.notify_all()
            raise RpcError("UNAVAILABLE", "not now")
        with self.changed:
            self.told.append((data, dict(attributes)))
            self.changed.notify_all()
        return str(len(self.told))

    def wait_for_failures(self) -> None:
        """Return once all failures are used up."""
        with self.changed:
            assert self.changed.wait_for(lambda: not self.failures, timeout=TIMEOUT)

    def wait_for(self, count: int) -> list[tuple[bytes, Mapping[str, str]]]:
        """What was published, once there is so much."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.told) >= count, timeout=TIMEOUT), self.told
            return list(self.told)


@pytest.fixture
def clock() -> Set:
    """The clock of the service."""
    return Set()


@pytest.fixture
def topics() -> Topics:
    """Where jobs publish."""
    return Topics()


@pytest.fixture
def stand(topics: Topics, clock: Set) -> Iterator[Stand]:
    """A fresh Scheduler; at the end all that was said must fit Google's document."""

    def make(stand: Stand) -> SchedulerService:
        return SchedulerService(
            project=PROJECT, clock=clock, publish=topics.publish, post=stand.outbound.post
        )

    with standing("cloudscheduler", "v1", make) as stand:
        yield stand
