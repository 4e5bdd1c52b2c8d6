"""Which disks, addresses and snapshots are told about, and which may be removed."""

from datetime import timedelta

import pytest

from spotwarden.governance.leftovers.rule import judge, key_of
from spotwarden.governance.signals.contradiction import GOES_ON
from spotwarden.governance.signals.facts import ReapFacts
from spotwarden.model.attempt import AttemptState
from spotwarden.model.finding import Reading, Subject
from spotwarden.model.fleet import Leftover
from spotwarden.model.governance import Remedy
from spotwarden.model.policy import Policy
from spotwarden.model.rule_limits import LeftoverLimits
from tests.governance.reap.reapable import SECOND, ago, brief, case, on_record, signs
from tests.recovery.facts import NOW

AFTER = LeftoverLimits().after
LINK = "projects/p/zones/us-central1-a/disks/4711"
OVER = NOW - AFTER
HAD = frozenset({"4711", "203.0.113.9"})


def disk(**facts):
    """A disk of test-vm, made a week ago."""
    ordinary = {
        "kind": "disk",
        "name": "test-vm-data",
        "link": LINK,
        "job": "test-vm",
        "created": ago(days=7),
    }
    return Leftover(**{**ordinary, "size_gb": 500, **facts})


def verdict(record, leftover=None, *, brief_=None, **facts):
    """The one finding about a leftover, None for none."""
    look = ReapFacts(jobs={record.job: record}, leftovers=(leftover or disk(),), **facts)
    found = list(judge(look, brief_ or brief()))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("ended", "beat", "reading"),
    [
        (OVER, OVER + GOES_ON, Reading.BAD),
        (OVER, OVER + GOES_ON + SECOND, Reading.UNKNOWN),
        (OVER + SECOND, NOW, None),
    ],
)
def test_the_disk_of_a_job_whose_end_is_contradicted_is_kept(ended, beat, reading):
    """A heartbeat of its present attempt came well after its status: it may need the disk yet."""
    heard = signs(beats={"test-vm": beat}, cpus={})
    found = verdict(on_record(status_code="0", ended=ended, signs=heard))
    assert (found and found.reading) == reading


@pytest.mark.parametrize(
    ("record", "leftover", "reading"),
    [
        (on_record(), disk(), None),
        (on_record(status_code="0", ended=OVER), disk(), Reading.BAD),
        (on_record(status_code="0", ended=OVER + SECOND), disk(), None),
        (on_record(state=AttemptState.STOPPED, updated=OVER), disk(), Reading.BAD),
        (on_record(state=AttemptState.STOPPED, updated=OVER + SECOND), disk(), None),
        (on_record(state=AttemptState.GAVE_UP, updated=OVER), disk(), Reading.BAD),
        (on_record(state=AttemptState.BACKING_OFF), disk(), None),
        (on_record(state=AttemptState.BACKING_OFF, status_code="0", ended=OVER), disk(), None),
        (on_record(status_code="0", ended=ago(days=5)), disk(created=OVER), Reading.BAD),
        (on_record(status_code="0", ended=ago(days=5)), disk(created=OVER + SECOND), None),
        (on_record(status_code="0", ended=OVER), disk(created=None), Reading.BAD),
        (on_record(exists=False), disk(created=OVER), Reading.BAD),
        (on_record(exists=False), disk(created=OVER + SECOND), None),
        (on_record(exists=False), disk(created=None), Reading.BAD),
        (on_record(problem="no answer"), disk(), Reading.UNKNOWN),
    ],
)
def test_the_table_of_leftovers(record, leftover, reading):
    """What a job keeps between two attempts is no leftover; after the end of the job it is."""
    found = verdict(record, leftover)
    assert (found and found.reading) == reading


def test_one_of_a_job_that_is_gone_counts_from_when_it_was_first_seen():
    """Nobody knows since when the record is gone."""
    gone = on_record(exists=False)
    key = key_of(disk())
    first = verdict(gone)
    almost = verdict(gone, brief_=brief(cases=case("leftover", key, since=OVER + SECOND)))
    full = verdict(gone, brief_=brief(cases=case("leftover", key, since=OVER)))
    unsteady = verdict(gone, brief_=brief(cases=case("leftover", key, since=OVER), steady=OVER + SECOND))
    assert [one and one.ripe for one in (first, almost, full, unsteady)] == [False, False, True, False]


def test_a_bucket_without_any_job_says_nothing_about_one():
    """It may be the wrong bucket."""
    found = verdict(on_record(exists=False), bare=True)
    assert found is not None
    assert found.reading is Reading.UNKNOWN


@pytest.mark.parametrize(
    ("remedy", "then"),
    [(Remedy.NONE, Remedy.NONE), (Remedy.STOP, Remedy.NONE), (Remedy.DELETE, Remedy.DELETE)],
)
def test_it_is_removed_only_where_the_policy_says_delete(remedy, then):
    """A disk cannot be stopped: a policy that says so only tells."""
    policy = Policy(version="test", leftover=LeftoverLimits(remedy=remedy))
    found = verdict(on_record(status_code="0", ended=OVER, had=HAD), brief_=brief(policy))
    assert found is not None
    assert found.limits.remedy is then


def test_it_is_addressed_by_its_link():
    """Its key fits the name of a case; its size is said."""
    found = verdict(on_record(status_code="0", ended=OVER))
    assert found is not None
    assert [(one.id, one.zone) for one in found.subject.targets] == [(LINK, "")]
    assert found.subject.key == "projects%2Fp%2Fzones%2Fus-central1-a%2Fdisks%2F4711"
    assert found.evidence["size"] == "500 GB"
    assert found.ripe


def test_one_of_which_nothing_had_to_be_asked_is_left_alone():
    """Its job is open."""
    assert list(judge(ReapFacts(leftovers=(disk(),)), brief())) == []


def test_what_an_incomplete_list_lacks_is_not_cleared():
    """An open case whose leftover may be out of sight stays as it is; on a whole list it is gone."""
    subject = Subject(key="gone-key", job="test-vm")
    opened = brief(cases=case("leftover", "gone-key", subject=subject))
    partial = list(judge(ReapFacts(leftovers=(), unlisted=("us-east1-b",)), opened))
    assert [(one.subject.key, one.reading) for one in partial] == [("gone-key", Reading.UNKNOWN)]
    assert list(judge(ReapFacts(leftovers=()), opened)) == []


def test_an_incomplete_list_hides_nothing_that_is_on_it():
    """What is listed is judged as ever, and found once."""
    look = ReapFacts(jobs={"test-vm": on_record()}, leftovers=(disk(),), unlisted=("us-east1-b",))
    opened = brief(cases=case("leftover", key_of(disk())))
    assert list(judge(look, opened)) == []


def test_other_rules_cases_are_not_its_business():
    """An incomplete list of disks says nothing about a VM."""
    opened = brief(cases=case("orphan", "1001"))
    assert list(judge(ReapFacts(leftovers=(), unlisted=("us-east1-b",)), opened)) == []


def test_a_grace_of_days_is_counted_in_hours():
    """A day is twenty-four hours, not until midnight."""
    policy = Policy(version="test", leftover=LeftoverLimits(after=timedelta(days=2)))
    late = on_record(status_code="0", ended=ago(hours=48))
    early = on_record(status_code="0", ended=ago(hours=48) + SECOND)
    assert verdict(late, brief_=brief(policy)) is not None
    assert verdict(early, brief_=brief(policy)) is None


@pytest.mark.parametrize(
    ("label", "spared"), [("2026-12-31", True), ("for ever", True), ("2020-12-31", False), ("", True)]
)
def test_a_label_on_it_keeps_it(label, spared):
    """As on a VM: up to and with its day, and where it is no day."""
    found = verdict(on_record(status_code="0", ended=OVER), disk(labels={"spotwarden-keep": label}))
    assert found is not None
    assert bool(found.exempt) is spared


@pytest.mark.parametrize(
    ("had", "left", "ours"),
    [
        (frozenset(), disk(), True),
        (HAD, disk(), True),
        (HAD, disk(link=LINK.replace("4711", "815")), False),
        (HAD, disk(kind="snapshot", link="projects/p/global/snapshots/815", origin="4711"), True),
        (HAD, disk(kind="snapshot", link="projects/p/global/snapshots/815", origin="9"), False),
        (HAD, disk(kind="snapshot", link="projects/p/global/snapshots/815"), False),
        (HAD, disk(kind="address", link="projects/p/regions/r/addresses/815", address="203.0.113.9"), True),
        (HAD, disk(kind="address", link="projects/p/regions/r/addresses/815", address="203.0.113.1"), False),
    ],
    ids=["nothing on record", "its own", "another", "snapshot of its own", "snapshot of another",
         "snapshot of nobody knows what", "its address", "another address"],
)  # fmt: skip
def test_a_disk_that_no_vm_of_the_job_had_is_told_to_ops_and_never_removed(had, left, ours):
    """Anybody who may label a disk could have it deleted by us."""
    limits = brief(Policy(version="test", leftover=LeftoverLimits(remedy=Remedy.DELETE)))
    found = verdict(on_record(status_code="0", ended=ago(days=5), had=had), left, brief_=limits)
    assert (found.subject.ours, found.ripe) == (ours, ours)
    assert ("on record with it" in found.reason) is not ours


@pytest.mark.parametrize(
    ("had", "exists", "remedy"),
    [
        (HAD, True, Remedy.DELETE),
        (HAD, False, Remedy.DELETE),
        (frozenset(), True, Remedy.NONE),
        (frozenset(), False, Remedy.NONE),
    ],
)
def test_a_disk_of_which_only_a_label_tells_is_told_and_never_removed(had, exists, remedy):
    """Its id is on record, or nothing is done: also where the job's folder is gone with all records."""
    limits = brief(Policy(version="test", leftover=LeftoverLimits(remedy=Remedy.DELETE)))
    record = on_record(status_code="0", ended=ago(days=5), had=had, exists=exists)
    found = verdict(record, brief_=limits)
    assert found.limits.remedy is remedy
    assert ("only its label says whose it is" in found.todo) is (remedy is Remedy.NONE)
