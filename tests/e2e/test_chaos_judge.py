"""The judge of `test_chaos`: every broken promise is found, by the one fact that is not as it should be."""

from typing import Any

import msgspec
import pytest

from tests.e2e.chaos.cast import Fate, Job, Kind, Stranger
from tests.e2e.chaos.judge import Witness, verdicts

JOB = Job(name="job", kind=Kind.PLAIN, zone="us-central1-a")
GANG = Job(name="gang", kind=Kind.GANG, zone="us-central1-a")
STRANGER = Stranger(name="stranger", zone="us-central1-a", spot=True)
BORN = ("PROVISIONING", "STAGING", "RUNNING")


def life(name: str, vm_id: str, *statuses: str, attempt: int = 1) -> list[dict[str, Any]]:
    """What one VM went through."""
    labels = {"spotwarden-attempt": str(attempt)} if attempt > 1 else {}
    one = {"at": "2026-01-05T12:00:00Z", "id": vm_id, "name": name, "zone": "z", "labels": labels}
    return [{**one, "status": status} for status in statuses]


def record(number: int, state: str = "running") -> dict[str, Any]:
    """One entry of a ledger."""
    return {"number": number, "state": state}


WELL = Witness(
    history=[
        *life("job", "1", *BORN, "STOPPING", "GONE"),
        *life("job", "2", *BORN, attempt=2),
        *life("stranger", "9", *BORN),
    ],
    ledgers={"job": [record(2)]},
    objects={"job/output/x": 1},
    told=[],
    scripts={"job": JOB.script},
)


def faults(job: Job = JOB, **changed: Any) -> list[str]:
    """What the judge finds when this is changed."""
    return verdicts(msgspec.structs.replace(WELL, **changed), [job], [STRANGER])


def test_all_is_well_where_it_is():
    """A preempted job that runs again, and a stranger that does."""
    assert faults() == []


@pytest.mark.parametrize("ending", [("STOPPING",), ()])
def test_a_vm_beside_one_that_is_not_gone_is_found(ending: tuple[str, ...]):
    """Stopping is not gone: it may still write."""
    history = [
        *life("job", "1", *BORN, *ending),
        *life("job", "2", *BORN, attempt=2),
        *life("stranger", "9", *BORN),
    ]
    assert any("lives beside" in fault for fault in faults(history=history))


def test_nodes_of_two_attempts_at_once_are_found():
    """Also of different names: a gang has one attempt at a time."""
    history = [
        *life("gang-1", "1", *BORN, "GONE"),
        *life("gang-2", "2", *BORN),
        *life("gang-1", "3", *BORN, attempt=2),
        *life("stranger", "9", *BORN),
    ]
    found = faults(GANG, history=history, ledgers={"gang": [record(2)]}, scripts={"gang": GANG.script})
    assert len(found) == 3
    assert all("gang-1 (3, attempt 2)" in fault for fault in found)


@pytest.mark.parametrize("fate", [Fate.ENDED, Fate.DELETED])
def test_a_closed_job_that_begins_again_is_found(fate: Fate):
    """And one that stays closed is not."""
    closed = msgspec.structs.replace(JOB, fate=fate, last=frozenset(["1"]))
    assert any("then" in fault for fault in faults(closed))
    still = [*life("job", "1", *BORN, "STOPPING", "GONE"), *life("stranger", "9", *BORN)]
    assert faults(closed, history=still) == []


def test_an_open_job_that_does_not_run_is_found_unless_somebody_was_told():
    """Given up and told is an end; given up in silence is not, nor is anything else."""
    history = [*life("job", "1", *BORN, "GONE"), *life("stranger", "9", *BORN)]
    told = [{"kind": "gave_up", "job": "job"}]
    given_up = {"job": [record(2, "gave up")]}
    assert faults(history=history, ledgers=given_up, told=told) == []
    assert len(faults(history=history, ledgers=given_up)) == 1
    assert len(faults(history=history, ledgers={"job": [record(2, "stopped")]}, told=told)) == 1


@pytest.mark.parametrize(
    "statuses", [(*BORN, "STOPPING", "GONE"), (*BORN, "STOPPING", "TERMINATED", "PROVISIONING")]
)
def test_a_stranger_that_was_touched_is_found(statuses: tuple[str, ...]):
    """Deleted or started again; that fate took it away is nobody's fault."""
    mine = life("job", "2", *BORN, attempt=2)
    assert len(faults(history=[*mine, *life("stranger", "9", *statuses)])) == 1
    assert faults(history=[*mine, *life("stranger", "9", *BORN, "STOPPING", "TERMINATED")]) == []


def test_a_vm_that_nobody_asked_for_is_found():
    """Its name is neither a job's nor a stranger's."""
    assert len(faults(history=[*WELL.history, *life("jib", "7", *BORN)])) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"scripts": {"job": b"rm -rf /"}},
        {"scripts": {"job": None}},
        {"ledgers": {"job": [record(2), record(4)]}},
        {"ledgers": {"job": []}},
        {"objects": {"preempted-jobs/job": 1}},
    ],
    ids=["a script changed", "a script gone", "a hole in a ledger", "a VM in no ledger", "a marker left"],
)
def test_what_was_lost_is_found(changed: dict[str, Any]):
    """Scripts, records and markers."""
    assert len(faults(**changed)) == 1
