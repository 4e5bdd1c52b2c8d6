"""What must be so in the end, once the trouble is over and the sweeps have come to rest."""

from typing import Any

import msgspec

from spotwarden.layout import CreateScript
from spotwarden.model.instance import Status
from tests.fakes.creating import machine_of
from tests.simulation.commands import Kind
from tests.simulation.jobs import MACHINES, Job
from tests.simulation.ledger import CLOSED
from tests.simulation.world import World


def open_ends(world: World) -> list[str]:
    """What is not as it must be; some of it may only need more time."""
    found = [fault for job in world.jobs for fault in (*_job(world, job), *_machines(world, job))]
    for vm_id in world.strangers:
        vm = world.cloud.compute.vms.living.get(vm_id)
        if vm is None or vm.seen.status is not Status.RUNNING:
            found.append(f"the stranger {vm_id} was touched")
    return found


def _job(world: World, job: Job) -> list[str]:
    """An open job runs whole, or somebody was told why it cannot; its script is as it was.

    No limit of the policy is ever reached here, so that nobody may be given up.
    """
    if job.over:
        return []
    stored = world.cloud.store.read(world.layout.build(CreateScript(job=job.name)))
    if job.kind is not Kind.BARE and (stored is None or stored.data != job.script):
        return [f"the script of {job.name} was lost"]
    # What was stopped and started after it was told of its end runs nothing, once a successor is on record.
    told = [vm for vm in world.running(job) if vm.seen.id in job.doomed and world.guests.is_fenced(job, vm)]
    up = sorted(vm.node for vm in world.running(job) if vm not in told)
    if up in (sorted(job.nodes), sorted({*job.nodes} - {job.smaller})):
        return []
    records = ledger_of(world, job)
    if job.doubtful and records and records[-1]["state"] in CLOSED:
        # Its owner was told, or has said so: the record of a command stands in for all of the attempt before.
        word = records[-1]["reason"] == "stopped" and records[-1]["lost"] is None
        if word or told_of(world, job.name):
            return []
    # Of a gang that bends a node that shut itself down is not wanted any more, and the others go on.
    goes_on = job.kind is Kind.BENT and job.doubtful and bool(up)
    if job.removed_late and len(job.nodes) > 1:
        goes_on = up == sorted({*job.nodes} - {job.removed_late})
    less = {"node_removed"} if goes_on else set()
    if told_of(world, job.name) & {*less, "not_recoverable", "quarantined"} or held_by_others(world, job):
        return []
    state = records[-1]["state"] if records else "no record"
    return [f"{job.name} ({job.kind.name}) is open, but of {len(job.nodes)} nodes {up} run; ledger: {state}"]


def held_by_others(world: World, job: Job) -> bool:
    """Whether a gang that bends lacks only nodes whose names others have where it runs, and that was told."""
    if job.kind is not Kind.BENT or "name_taken" not in told_of(world, job.name):
        return False
    living, up = world.cloud.compute.vms.living, world.running(job)
    zones = {vm.seen.zone for vm in up}
    others = (vm for vm_id in world.strangers if (vm := living.get(vm_id)))
    held = {vm.seen.name for vm in others if vm.seen.zone in zones}
    return bool(up) and {*job.nodes} - {vm.node for vm in up} <= held


def _machines(world: World, job: Job) -> list[str]:
    """Every VM is of a machine type that its owner may have allowed, and of the one that its record tells."""
    records = ledger_of(world, job)
    if job.over or not records or records[-1]["state"] != "running" or not records[-1].get("tries"):
        return []
    # Without a script, its own is what it ran on last.
    told = records[-1]["tries"][-1].get("machine") or records[-1].get("machine") or MACHINES[0]
    ids = records[-1]["instances"].values()
    return [
        f"{vm.seen.name} is a {machine_of(vm.body)}, and its record tells of {told}"
        for vm in world.running(job)
        if vm.seen.id in ids and machine_of(vm.body) != told
    ]


def ledger_of(world: World, job: Job) -> list[dict[str, Any]]:
    """All records of a job, oldest first."""
    store = world.cloud.store
    read = [store.read(entry.name) for entry in store.entries(world.layout.attempts(job.name))]
    records: list[dict[str, Any]] = [msgspec.json.decode(one.data) for one in read if one]
    return sorted(records, key=lambda record: int(record["number"]))


def told_of(world: World, job: str) -> set[str]:
    """The kinds of notices about a job."""
    said = [message.attributes for message in world.cloud.notices.messages]
    return {one["kind"] for one in said if one.get("job") == job}


def news(world: World) -> list[str]:
    """Each attempt that runs and each that was given up is told under one id."""
    ids: dict[tuple[str, str, str], set[str]] = {}
    for message in world.cloud.notices.messages:
        notice = msgspec.json.decode(message.data)
        attempt = notice.get("evidence", {}).get("attempt", "")
        key = (message.attributes["job"], message.attributes["kind"], attempt)
        ids.setdefault(key, set()).add(message.attributes["id"])
    found = [
        f"{job}'s attempt {attempt} is told under {len(names)} ids"
        for (job, kind, attempt), names in ids.items()
        if kind == "recovered" and len(names) > 1
    ]
    return found + [fault for job in world.jobs for fault in _untold(world, job, ids)]


def _untold(world: World, job: Job, ids: dict[tuple[str, str, str], set[str]]) -> list[str]:
    found = []
    for record in ledger_of(world, job):
        number = str(record["number"])
        restarted = record["number"] > 1 and record["state"] == "running" and record.get("tries")
        moved = bool(record.get("planned")) and (
            record["tries"][-1].get("kind") == "keep" or (job.name, "moved", number) in ids
        )
        kind = "gang_changed" if record.get("bent") else "recovered"
        if restarted and not moved and (job.name, kind, number) not in ids:
            found.append(f"nobody was told that attempt {number} of {job.name} runs")
        if record["state"] == "gave up" and "gave_up" not in told_of(world, job.name):
            found.append(f"nobody was told that {job.name} is given up")
    return found
