"""A Logging behind a real listener, with topics that remember."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from localcloud.clock import Clock
from localcloud.logs import LogService
from localcloud.rpc import RpcError
from tests.localcloud.stand import PROJECT, Stand, standing


@dataclass
class Topics:
    """A Pub/Sub with one topic, that keeps what is published."""

    told: list[tuple[bytes, Mapping[str, str]]] = field(default_factory=list)

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """As the `Publish` port."""
        if topic != f"projects/{PROJECT}/topics/audit":
            raise RpcError("NOT_FOUND", f"Resource not found (resource={topic.rpartition('/')[2]}).")
        self.told.append((data, attributes))
        return str(len(self.told))


@pytest.fixture
def topics() -> Topics:
    """Where sinks send."""
    return Topics()


@pytest.fixture
def stand(topics: Topics) -> Iterator[Stand]:
    """A fresh Logging that keeps 50 entries; at the end all that was said must fit Google's document."""

    def make(_: Stand) -> LogService:
        return LogService(project=PROJECT, clock=Clock(), publish=topics.publish, most=50)

    with standing("logging", "v2", make) as stand:
        yield stand
