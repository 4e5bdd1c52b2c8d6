"""Builders of facts: everything ordinary unless a test says otherwise."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.model.action import Survey
from spotwarden.model.attempt import Attempt, AttemptState, Recorded, Script
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Instance, Instances, Operation, Operations, Status
from spotwarden.model.launch import Choice, Launch, StoredScript
from spotwarden.model.marker import Marker
from spotwarden.model.outcome import Done, Outcome
from spotwarden.model.request import Request
from spotwarden.model.watch import Watch, Watched

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOME = "us-central1-a"
REQUEST = Request(
    method="POST",
    path=f"/compute/v1/projects/p/zones/{HOME}/instances",
    query={"alt": "json"},
    body={
        "name": "test-vm",
        "machineType": "g2-standard-4",
        "metadata": {"items": [{"key": "startup-script", "value": "true"}]},
    },
)
SCRIPT = Script(generation=7, sha256="0" * 64)
STORED = StoredScript(name="create-instance.sh", text=b"", generation=7, stored=NOW - timedelta(hours=2))


def launch(*places: str, **facts: object) -> Launch:
    """The launch of one VM, at home and in these places."""
    choices = tuple(
        Choice(place=place, request=replace(REQUEST, path=REQUEST.path.replace(HOME, place)))
        for place in (HOME, *places)
    )
    return replace(Launch(nodes=("test-vm",), choices=choices, script=SCRIPT, spot=True), **facts)


BULK = Request(
    method="POST",
    path=f"/compute/v1/projects/p/zones/{HOME}/instances/bulkInsert",
    query={"alt": "json"},
    body={
        "count": "2",
        "perInstanceProperties": {"gang-1": {}, "gang-2": {}},
        "instanceProperties": {key: value for key, value in REQUEST.body.items() if key != "name"},
    },
)


def gang(*places: str) -> Launch:
    """The launch of `gang-1` and `gang-2` together."""
    choices = tuple(
        Choice(place=place, request=replace(BULK, path=BULK.path.replace(HOME, place)))
        for place in (HOME, *places)
    )
    return replace(launch(), choices=choices, nodes=("gang-1", "gang-2"), gang=True)


def marker(**facts: object) -> Marker:
    """A marker written twenty minutes ago."""
    return replace(Marker(node="test-vm", generation=11, written=NOW - timedelta(minutes=20)), **facts)


def instance(**facts: object) -> Instance:
    """The instance 1001, running for an hour."""
    return replace(
        Instance(
            id="1001",
            name="test-vm",
            zone=HOME,
            status=Status.RUNNING,
            # When one with our labels was made depends on the try that made it.
            created=None if "job" in facts else NOW - timedelta(hours=1),
            started=NOW - timedelta(hours=1),
        ),
        **facts,
    )


def ran(*instances: Instance, request: Request = REQUEST) -> dict[str, object]:
    """The resources of instances, by id, as this request makes them."""
    body = request.body.get("instanceProperties", request.body)
    root = "https://www.googleapis.com/compute/v1/projects/p/zones"
    return {
        one.id: {
            "instance": {**body, "id": one.id, "name": one.name, "zone": f"{root}/{one.zone}"},
            "disks": {},
        }
        for one in instances
    }


def operation(kind: str = "compute.instances.preempted", **facts: object) -> Operation:
    """A finished operation on the instance 1001."""
    return replace(
        Operation(
            name="operation-1", zone=HOME, kind=kind, target_id="1001", target_name="test-vm", done=True
        ),
        **facts,
    )


def node(**facts: object) -> NodeFacts:
    """A node whose marker is about the instance 1001, which is gone, preempted."""
    return replace(
        NodeFacts(node="test-vm", marker=marker(), instance_id="1001", history=(operation(),)), **facts
    )


def attempt(number: int = 1, state: AttemptState = AttemptState.RUNNING, **facts: object) -> Recorded:
    """A recorded attempt; its generation is 100 times its number."""
    record = replace(
        Attempt(
            job="test-vm",
            number=number,
            state=state,
            created=NOW - timedelta(hours=1),
            updated=NOW - timedelta(hours=1),
        ),
        **facts,
    )
    return Recorded(attempt=record, generation=number * 100)


def watched(**facts: Any) -> Watched:
    """The entry of attempt 1 in the list of open jobs, an hour old, all of it on record."""
    watch = Watch(job="test-vm", attempt=1, instances={"test-vm": "1001"}, recorded=True)
    since = facts.pop("since", NOW - timedelta(hours=1))
    return Watched(watch=replace(watch, **facts), generation=31, since=since)


def job(**facts: object) -> JobFacts:
    """A job whose first attempt was preempted."""
    return replace(
        JobFacts(
            job="test-vm",
            ledger=(attempt(instances={"test-vm": "1001"}),),
            nodes=(node(),),
            launch=launch(),
            script=STORED,
            watched=watched(),
        ),
        **facts,
    )


def quiet(**facts: object) -> JobFacts:
    """A job whose first attempt runs."""
    alive = instance()
    nodes = (node(marker=None, instance=alive, history=()),)
    return job(**{"nodes": nodes, "instances": (alive,), **facts})


def gang_job(**facts: object) -> JobFacts:
    """A gang of two: `gang-1` (id 1001) was preempted and is gone, `gang-2` (id 1002) runs on."""
    ids = {"gang-1": "1001", "gang-2": "1002"}
    left = instance(id="1002", name="gang-2")
    nodes = (
        node(node="gang-1", marker=marker(node="gang-1"), history=(operation(target_name="gang-1"),)),
        node(node="gang-2", marker=None, instance_id="1002", instance=left, history=()),
    )
    return job(
        **{
            "job": "gang",
            "ledger": (attempt(job="gang", instances=ids),),
            "nodes": nodes,
            "instances": (left,),
            "launch": gang(),
            "watched": watched(job="gang", instances=ids),
            **facts,
        }
    )


def surveyed(
    *instances: Instance, inserts: Collection[Operation] = (), unreachable: tuple[str, ...] = ()
) -> dict[type, Outcome]:
    """The answer to a survey: these instances, and these inserts in the log."""
    log = Operations(items=tuple(inserts), unreachable=unreachable)
    return {Survey: Done(instances=Instances(items=instances, unreachable=unreachable), operations=log)}
