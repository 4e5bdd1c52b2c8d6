"""What must be so: at every moment, by the history of all VMs; and in the end, by what is left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tests.e2e.chaos.cast import RUNNING, TERMINATED, Fate, Job, Stranger
from tests.e2e.chaos.cloud import Cloud

OVER = {TERMINATED, "GONE"}
CLOSED = {"gave up", "stopped", "ended"}


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at afterwards."""

    history: Sequence[Mapping[str, Any]]
    ledgers: Mapping[str, Sequence[Mapping[str, Any]]]
    objects: Mapping[str, int]
    told: Sequence[Mapping[str, str]]
    scripts: Mapping[str, bytes | None]


def ledger(cloud: Cloud, job: str) -> list[dict[str, Any]]:
    """The records of a job's attempts, oldest first."""
    prefix = f"{job}/metadata/attempts/"
    names = [name for name in cloud.objects(prefix) if name.removeprefix(prefix).count("/") == 0]
    records = [msgspec.json.decode(cloud.read(name) or b"{}") for name in names]
    return sorted((one for one in records if "number" in one), key=lambda one: int(one["number"]))


def witness(cloud: Cloud, jobs: Iterable[Job], told: Sequence[Mapping[str, str]]) -> Witness:
    """Look at everything."""
    jobs = list(jobs)
    return Witness(
        history=cloud.get("/local/history")["changes"],
        ledgers={job.name: ledger(cloud, job.name) for job in jobs},
        objects=cloud.objects(""),
        told=told,
        scripts={job.name: cloud.read(job.script_name) for job in jobs},
    )


def verdicts(
    seen: Witness, jobs: Sequence[Job], strangers: Sequence[Stranger], *, at_peace: bool = True
) -> list[str]:
    """All that is not as it must be, in words; empty when all is well.

    Unless it is `at_peace` only what must be so at every moment.
    """
    always = [
        *_two_lives(seen, jobs),
        *_restarts_of_the_closed(seen, jobs),
    ]
    return (
        [
            *always,
            *_not_running(seen, jobs),
            *_touched(seen, jobs, strangers),
            *_lost(seen, jobs),
        ]
        if at_peace
        else always
    )


def _attempt(change: Mapping[str, Any]) -> str:
    """The attempt that a VM belongs to; its developer launched what carries no number."""
    return str(change["labels"].get("spotwarden-attempt", "1"))


def _two_lives(seen: Witness, jobs: Sequence[Job]) -> list[str]:
    """No job has VMs of two attempts at once, nor two VMs of one name."""
    owner = {node: job.name for job in jobs for node in job.nodes}
    living: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    found = []
    for change in seen.history:
        job = owner.get(change["name"])
        if job is None:
            continue
        if change["status"] in OVER:
            living[job].pop(change["id"], None)
            continue
        for other in living[job].values():
            same = other["name"] == change["name"] and other["id"] != change["id"]
            if same or _attempt(other) != _attempt(change):
                found.append(f"{job}: at {change['at']} {_vm(change)} lives beside {_vm(other)}")
        living[job][change["id"]] = change
    return found


def _vm(change: Mapping[str, Any]) -> str:
    where = f"{change['zone']}/{change['name']} ({change['id']}, attempt {_attempt(change)})"
    return f"{where} {change['status']}"


def _restarts_of_the_closed(seen: Witness, jobs: Sequence[Job]) -> list[str]:
    """After a job's last VM was taken down by its owner, none of its name ever begins."""
    found = []
    for job in jobs:
        if job.fate is Fate.OPEN:
            continue
        own = [change for change in seen.history if change["name"] in job.nodes]
        last = max(number for number, change in enumerate(own) if change["id"] in job.last)
        found += [
            f"{job.name} was {job.fate.value}, then {_vm(one)} at {one['at']}" for one in own[last + 1 :]
        ]
    return found


def _now(seen: Witness) -> dict[str, Mapping[str, Any]]:
    """The last change of each VM, by id; those that are gone are left out."""
    newest = {change["id"]: change for change in seen.history}
    return {key: one for key, one in newest.items() if one["status"] != "GONE"}


def _not_running(seen: Witness, jobs: Sequence[Job]) -> list[str]:
    """An open job runs whole; or its newest attempt was given up, and somebody was told."""
    now = list(_now(seen).values())
    told = {one.get("job") for one in seen.told if one.get("kind") == "gave_up"}
    found = []
    for job in jobs:
        up = sorted(one["name"] for one in now if one["name"] in job.nodes and one["status"] == RUNNING)
        records = seen.ledgers[job.name]
        state = records[-1]["state"] if records else "no record"
        if job.fate is not Fate.OPEN or up == sorted(job.nodes) or (state == "gave up" and job.name in told):
            continue
        found.append(f"{job.name} ({job.kind.name}) is open, but {up} run; its ledger says {state}")
    return found


def _touched(seen: Witness, jobs: Sequence[Job], strangers: Sequence[Stranger]) -> list[str]:
    """Nobody else's VM was started, stopped, deleted or created: only preempted, where fate did it."""
    names = {node for job in jobs for node in job.nodes}
    allowed = {one.name: one for one in strangers}
    lives: dict[str, list[str]] = defaultdict(list)
    for change in seen.history:
        if change["name"] not in names:
            lives[change["name"]].append(change["status"])
    born = ["PROVISIONING", "STAGING", "RUNNING"]
    whole = {name: (born, [*born, "STOPPING", TERMINATED]) for name, one in allowed.items() if one.spot}
    return [
        f"the stranger {name} went through {', '.join(statuses)}"
        for name, statuses in lives.items()
        if statuses not in whole.get(name, (born,)) or name not in allowed
    ] + [f"the stranger {name} was never seen" for name in allowed if name not in lives]


def _lost(seen: Witness, jobs: Sequence[Job]) -> list[str]:
    """Scripts are as they were, ledgers have no holes, markers were answered or put aside."""
    found = [f"the script of {job.name} was changed" for job in jobs if seen.scripts[job.name] != job.script]
    for name, records in seen.ledgers.items():
        numbers = [int(one["number"]) for one in records]
        if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            found.append(f"the ledger of {name} has holes: {numbers}")
    owner = {node: job.name for job in jobs for node in job.nodes}
    for change in seen.history:
        number = change["labels"].get("spotwarden-attempt")
        known = {str(one["number"]) for one in seen.ledgers.get(owner.get(change["name"], ""), ())}
        if change["status"] == "PROVISIONING" and number and number not in known:
            found.append(f"{_vm(change)} stands in no ledger")
    found += [f"{name} was never answered" for name in seen.objects if name.startswith("preempted-jobs/")]
    return sorted(set(found))
