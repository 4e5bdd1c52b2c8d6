"""A TPU slice of a job in a governed world: a group that its chain has, and its VMs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from spotwarden.layout import AttemptRecord, OpenJob, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState, Removal, Try
from spotwarden.model.fleet import ATTEMPT_LABEL, JOB_LABEL
from spotwarden.model.request import Request
from spotwarden.model.slices import SliceGroup
from spotwarden.model.watch import Watch
from tests.governance.governed import GovernedWorld

ZONE, OWNER = "us-central1-a", "ann@x.org"
JOB = "trainer"
PROJECT = "/compute/v1/projects/p"
DAY = timedelta(days=1)


class MadeSlice(msgspec.Struct, frozen=True, kw_only=True):
    """A slice: its group, and the ids of its VMs by name."""

    group: SliceGroup
    ids: Mapping[str, str]

    @property
    def vms(self) -> set[str]:
        """The ids of its VMs."""
        return set(self.ids.values())


def send(world: GovernedWorld, place: str, **body: Any) -> None:
    """Have something made."""
    request = Request(method="POST", path=f"{PROJECT}/{place}", query={}, body=body)
    world.cloud.compute.launch(request, f"{world.now}-{place}")
    world.wait(seconds=5)


def group(
    world: GovernedWorld,
    name: str,
    *names: str,
    labels: Mapping[str, str],
    machine: str = "ct6e-standard-4t",
) -> MadeSlice:
    """A group with VMs of four chips each, whoever makes it; they run since just now."""
    cards = [{"acceleratorType": f"zones/{ZONE}/acceleratorTypes/tpu-v6e", "acceleratorCount": 4}]
    properties = {
        "machineType": machine,
        "guestAccelerators": cards,
        "labels": labels,
        "scheduling": {"provisioningModel": "SPOT"},
    }
    send(world, "global/instanceTemplates", name=name, properties=properties)
    send(
        world,
        f"zones/{ZONE}/instanceGroupManagers",
        name=name,
        instanceTemplate=f"global/instanceTemplates/{name}",
        targetSize=0,
        instanceLifecyclePolicy={"defaultActionOnFailure": "DO_NOTHING"},
    )
    made = world.cloud.compute.group(ZONE, name)
    assert made is not None
    world.cloud.compute.fill_group(ZONE, name, made.id, names, f"{world.now}-fill")
    world.wait(minutes=1)
    filled = world.cloud.compute.group(ZONE, name)
    assert filled is not None
    assert len(filled.ids) == len(names)
    return MadeSlice(group=SliceGroup(name=name, id=made.id), ids=filled.ids)


def launch(
    world: GovernedWorld,
    job: str = JOB,
    *,
    hosts: int = 4,
    attempt: int = 1,
    name: str = "",
    machine: str = "ct6e-standard-4t",
) -> MadeSlice:
    """A job that runs as a slice, on record as recovery writes it down."""
    began = world.now
    names = [f"{job}-{number}" for number in range(hosts)]
    labels = {JOB_LABEL: job, ATTEMPT_LABEL: str(attempt)}
    made = group(world, name or f"{job}-{attempt}-1-abcd", *names, labels=labels, machine=machine)
    tried = Try(place=ZONE, request_id="r", at=began, group=made.group)
    write(world, job, attempt, tries=(tried,), instances=made.ids)
    entry = Watch(job=job, attempt=attempt, instances=made.ids, recorded=True)
    world.store(OpenJob(job=job), msgspec.json.encode(entry))
    return made


def write(world: GovernedWorld, job: str, attempt: int, **said: Any) -> None:
    """A record of the job's chain."""
    ordinary = {
        "state": AttemptState.RUNNING,
        "created": world.now,
        "updated": world.now,
        "started": world.now,
        "owner": OWNER,
    }
    record = Attempt(**{"job": job, "number": attempt, **ordinary, **said})
    world.store(AttemptRecord(job=job, attempt=attempt), msgspec.json.encode(record), shown=True)


def close(world: GovernedWorld, made: MadeSlice, *removed: str, job: str = JOB) -> None:
    """The job is closed, as recovery does where somebody has removed VMs of it."""
    gone = {
        name: Removal(instance_id=made.ids[name], operation="o", kind="delete", user=OWNER)
        for name in removed
    }
    write(world, job, 2, state=AttemptState.STOPPED, replaces=made.ids, removed=gone)
    forget(world, OpenJob(job=job))


def end(world: GovernedWorld, code: str = "0", *, job: str = JOB) -> None:
    """The job writes its status."""
    world.store(StatusCode(job=job), code.encode())


def forget(world: GovernedWorld, thing: Any) -> None:
    """Delete an object."""
    name = world.layout.build(thing)
    stored = world.cloud.store.read(name)
    assert stored is not None
    world.cloud.store.delete(name, generation=stored.generation)


def deleted_groups(world: GovernedWorld) -> list[tuple[str, str]]:
    """The names and ids of groups of which somebody has asked the deletion, and by whom."""
    log = world.cloud.compute.vms.log.values()
    return [
        (item.target_name, item.target_id)
        for item in log
        if item.kind == "delete" and item.target_id.startswith("7")
    ]


def asked_of_vms(world: GovernedWorld) -> list[tuple[str, str]]:
    """What we have asked of single VMs: what a group does is not ours."""
    log = world.cloud.compute.vms.log.values()
    ours = world.cloud.compute.caller
    return [
        (item.kind, item.target_name)
        for item in log
        if item.kind in {"stop", "delete"} and item.user == ours and not item.target_id.startswith("7")
    ]


def newest(world: GovernedWorld, job: str = JOB) -> Attempt:
    """The last record of a job's chain."""
    name = max(entry.name for entry in world.cloud.store.entries(world.layout.attempts(job)))
    stored = world.cloud.store.read(name)
    assert stored is not None
    return msgspec.json.decode(stored.data, type=Attempt)
