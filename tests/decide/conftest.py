"""Facts for the tests of decisions: everything ordinary unless a test says otherwise."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from spotwarden.model.attempt import Attempt, Lease, Recorded, Script, State, Try
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Instance, Operation, Status
from spotwarden.model.launch import Choice, Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.marker import Marker
from spotwarden.model.request import Request
from spotwarden.model.tick import Tick

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
REQUEST = Request(
    method="POST",
    path="/compute/v1/projects/p/zones/us-central1-a/instances",
    query={"alt": "json"},
    body={"name": "test-vm", "metadata": {"items": [{"key": "startup-script", "value": "true"}]}},
)
LAUNCH = Launch(
    nodes=("test-vm",),
    choices=(Choice(place="us-central1-a", request=REQUEST),),
    script=Script(generation=7, sha256="0" * 64),
)


def marker(**facts: object) -> Marker:
    """A marker written ten minutes ago."""
    return Marker(
        **{"node": "test-vm", "generation": 11, "written": NOW - timedelta(minutes=10), **facts}  # type: ignore[arg-type]
    )


def instance(**facts: object) -> Instance:
    """The instance 1001, running for an hour."""
    return Instance(
        **{  # type: ignore[arg-type]
            "id": "1001",
            "name": "test-vm",
            "zone": "us-central1-a",
            "status": Status.RUNNING,
            "started": NOW - timedelta(hours=1),
            **facts,
        }
    )


def operation(kind: str = "compute.instances.preempted", **facts: object) -> Operation:
    """A finished operation on the instance 1001."""
    return Operation(
        **{  # type: ignore[arg-type]
            "name": "operation-1",
            "zone": "us-central1-a",
            "kind": kind,
            "target_id": "1001",
            "target_name": "test-vm",
            "done": True,
            **facts,
        }
    )


def node(**facts: object) -> NodeFacts:
    """A node whose marker is about the instance 1001, which is gone, preempted."""
    return NodeFacts(
        **{  # type: ignore[arg-type]
            "node": "test-vm",
            "marker": marker(),
            "instance_id": "1001",
            "history": (operation(),),
            **facts,
        }
    )


def attempt(number: int = 1, state: State = State.RUNNING, **facts: object) -> Recorded:
    """A recorded attempt; its generation is 100 times its number."""
    record = Attempt(
        **{  # type: ignore[arg-type]
            "job": "test-vm",
            "number": number,
            "state": state,
            "created": NOW - timedelta(hours=1),
            "updated": NOW - timedelta(hours=1),
            **facts,
        }
    )
    return Recorded(attempt=record, generation=number * 100)


def job(**facts: object) -> JobFacts:
    """A job whose first attempt was preempted."""
    return JobFacts(
        **{  # type: ignore[arg-type]
            "job": "test-vm",
            "ledger": (attempt(instances={"test-vm": "1001"}),),
            "nodes": (node(),),
            "launch": LAUNCH,
            **facts,
        }
    )


@pytest.fixture
def some() -> SimpleNamespace:
    """Builders of ordinary facts."""
    return SimpleNamespace(
        marker=marker,
        instance=instance,
        operation=operation,
        node=node,
        attempt=attempt,
        job=job,
        launch=LAUNCH,
    )


@pytest.fixture
def limits() -> RecoveryLimits:
    """The default limits."""
    return RecoveryLimits()


@pytest.fixture
def tick() -> Tick:
    """A tick at noon, of the sweep `this-sweep`."""
    return Tick(function="recover_spot", sweep="this-sweep", now=NOW)


@pytest.fixture
def ours() -> Lease:
    """The lease of this very sweep."""
    return Lease(holder="this-sweep", until=NOW + timedelta(minutes=5))


@pytest.fixture
def asked() -> Callable[..., Try]:
    """A try of the script's zone."""

    def build(**facts: object) -> Try:
        return Try(**{"place": "us-central1-a", "request_id": "r-1", "at": NOW, **facts})  # type: ignore[arg-type]

    return build
