"""The judge of `test_chaos_people`: every broken promise is found by one fact.

Of each there is also the history, one fact apart, in which it is kept.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.chaos.cast import Job, Kind, Stranger
from tests.e2e.chaos.people import COLLEAGUE, OWNER, Wish, Word
from tests.e2e.chaos.record import Entry, Record, entries, verdicts

JOB = Job(name="job", kind=Kind.PLAIN, zone="us-central1-a")
STRANGER = Stranger(name="stranger", zone="us-central1-a", spot=True)
RECOVERY = "spotwarden-recover-spot@demo.iam.gserviceaccount.com"
DEVELOPER = "developer@example.com"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
RUNS = ("PROVISIONING", "STAGING", "RUNNING")


def at(seconds: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def entry(seconds: float, kind: str, user: str, vm_id: str = "1", name: str = "job") -> Entry:
    """One operation."""
    return Entry(at=at(seconds), kind=kind, user=user, name=name, id=vm_id, zone="z")


def life(seconds: float, vm_id: str, *statuses: str, name: str = "job") -> list[dict[str, Any]]:
    """What one VM went through."""
    return [
        {
            "at": at(seconds).isoformat(),
            "id": vm_id,
            "name": name,
            "zone": "z",
            "status": status,
            "labels": {},
        }
        for status in statuses
    ]


def word(began: float, ended: float, words: str, wish: Wish, said: str = "") -> Word:
    """One command."""
    return Word(job="job", words=tuple(words.split()), began=at(began), ended=at(ended), wish=wish, said=said)


LAUNCHED = [entry(0, "insert", DEVELOPER)]
TAKEN = [*LAUNCHED, entry(10, "compute.instances.preempted", "system")]
BACK = [*TAKEN, entry(12, "insert", RECOVERY, "2")]
FIRST = life(0, "1", *RUNS)
SECOND = [*FIRST, *life(11, "1", "STOPPING", "GONE"), *life(12, "2", *RUNS)]
OVER = [*FIRST, *life(11, "1", "STOPPING", "GONE")]


def faults(done: Iterable[Entry], history: list[dict[str, Any]], *said: Word) -> list[str]:
    """What the judge finds."""
    return verdicts(Record(entries=list(done), history=history, said=said), [JOB], [STRANGER])


def test_all_is_well_where_a_preempted_job_runs_again():
    """And where one runs that nobody has touched."""
    assert faults(BACK, SECOND) == []
    assert faults(LAUNCHED, FIRST) == []


def test_a_preempted_job_that_does_not_run_again_is_found():
    """Nobody has ended it."""
    assert any("is open" in fault for fault in faults(TAKEN, OVER))


@pytest.mark.parametrize("kind", ["delete", "stop"])
def test_what_its_owner_ended_by_the_api_and_came_back_is_found(kind: str):
    """Later than a sweep that was under way could do it; that it stays away is right."""
    ended = [*LAUNCHED, entry(10, kind, OWNER)]
    assert faults(ended, OVER) == []
    assert faults([*ended, entry(20, "insert", RECOVERY, "2")], OVER) == []
    assert len(faults([*ended, entry(30, "insert", RECOVERY, "2")], OVER)) == 1


def test_a_delete_within_a_preemption_counts_as_one():
    """The job that is back then is found."""
    ended = [*TAKEN, entry(10.5, "delete", OWNER)]
    assert faults(ended, OVER) == []
    assert any("came back" in fault for fault in faults([*ended, entry(40, "insert", RECOVERY, "2")], SECOND))


def test_what_was_stopped_by_command_may_not_begin_once_the_command_has_ended():
    """While it runs a request may be under way; a VM that lives on is found as well."""
    stop = word(10, 14, "stop job", Wish.END)
    assert faults([*LAUNCHED, entry(13, "insert", RECOVERY, "2")], OVER, stop) == []
    assert any("came back" in one for one in faults([*LAUNCHED, entry(16, "insert", RECOVERY)], OVER, stop))
    assert any("was ended by" in fault for fault in faults(LAUNCHED, FIRST, stop))


def test_a_command_that_did_not_say_how_it_stands_asks_for_nothing():
    """Neither that it runs nor that it does not."""
    for history in (FIRST, OVER):
        assert faults(LAUNCHED, history, word(10, 14, "stop job", Wish.UNKNOWN)) == []


def test_who_starts_it_again_takes_the_end_back():
    """By the API as by a command: it must run then, and may come back."""
    ended = [*LAUNCHED, entry(10, "stop", OWNER)]
    started = [*ended, entry(60, "start", OWNER)]
    assert any("is open" in fault for fault in faults(started, OVER))
    assert faults([*started, entry(90, "insert", RECOVERY, "2")], SECOND) == []
    restarted = word(50, 52, "restart job", Wish.BEGIN)
    assert faults([*ended, entry(60, "insert", RECOVERY, "2")], SECOND, restarted) == []


def test_a_colleagues_vm_is_no_life_of_the_job_and_whoever_touches_it_is_found():
    """It lives beside the job's, and does not stand in for it."""
    theirs = entry(5, "insert", COLLEAGUE, "9")
    beside = life(5, "9", *RUNS)
    assert faults([*LAUNCHED, theirs], [*FIRST, *beside]) == []
    assert any("is open" in fault for fault in faults([*TAKEN, theirs], [*OVER, *beside]))
    for user in (RECOVERY, DEVELOPER, OWNER):
        touched = [*LAUNCHED, theirs, entry(9, "delete", user, "9")]
        assert any("colleague's VM was touched" in fault for fault in faults(touched, FIRST))
    assert faults([*LAUNCHED, theirs, entry(9, "delete", COLLEAGUE, "9")], FIRST) == []


def test_a_stranger_that_was_touched_is_found():
    """That Compute Engine takes it is nobody's fault."""
    taken = entry(9, "compute.instances.preempted", "system", "7", "stranger")
    assert faults([*LAUNCHED, taken], FIRST) == []
    assert len(faults([*LAUNCHED, entry(9, "start", RECOVERY, "7", "stranger")], FIRST)) == 1


def test_two_lives_of_one_node_are_found():
    """Also where one of them is over by now."""
    both = [*FIRST, *life(3, "2", *RUNS)]
    assert any("2 VMs of job live" in fault for fault in faults(LAUNCHED, both))
    assert any("begins beside" in fault for fault in faults(LAUNCHED, [*both, *life(4, "1", "GONE")]))


def test_two_submits_that_say_different_things_of_one_attempt_are_found():
    """Both may say the same."""
    said = "job: attempt 2 runs in z as instance {}"
    first = word(1, 3, "submit job.sh", Wish.BEGIN, said.format(1))
    for vm_id, found in ((1, 0), (2, 1)):
        second = word(2, 4, "submit job.sh", Wish.BEGIN, said.format(vm_id))
        assert len(faults(LAUNCHED, FIRST, first, second)) == found


def test_a_refused_operation_is_none():
    """Nothing was done by it; operations on disks are left out as well."""
    operation = {
        "insertTime": NOON.isoformat(),
        "operationType": "delete",
        "user": OWNER,
        "targetLink": "https://x/projects/demo/zones/z/instances/job",
        "targetId": "1",
        "zone": "https://x/projects/demo/zones/z",
    }
    disk = {**operation, "targetLink": "https://x/projects/demo/zones/z/disks/job"}
    assert entries([operation, {**operation, "error": {}}, disk]) == [entry(0, "delete", OWNER)]
    nowhere = {**operation, "operationType": "insert", "user": COLLEAGUE, "error": {}}
    assert entries([nowhere]) == [entry(0, "insert", COLLEAGUE)]
