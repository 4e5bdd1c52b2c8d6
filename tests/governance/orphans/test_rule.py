"""Which VMs nobody needs any more, and which are left alone."""

from datetime import date, timedelta

import pytest

from spotwarden.governance.orphans.rule import judge
from spotwarden.governance.reap.rules import judge as judge_all
from spotwarden.governance.signals.contradiction import GOES_ON
from spotwarden.model.attempt import AttemptState
from spotwarden.model.finding import Reading
from spotwarden.model.governance import Exemption, GovernanceLimits, Remedy, Scope
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy
from spotwarden.model.rule_limits import OrphanLimits
from tests.governance.reap.reapable import SECOND, ago, brief, case, on_record, seen, signs, vm
from tests.recovery.facts import NOW

AFTER = OrphanLimits().after
GRACE = GovernanceLimits().launch_grace
ENDED = {"status_code": "0", "ended": NOW - AFTER}
BAD, UNKNOWN = Reading.BAD, Reading.UNKNOWN
ONLY_JOB = {"spotwarden-job": "test-vm"}
OTHER = {"test-vm": "2002"}
"""What runs as the newest attempt, where it is not the VM 1001."""


def beat_at(at):
    """Signs of a job whose newest heartbeat came at this moment."""
    return signs(beats={"test-vm": at}, cpus={})


def verdict(record, *machines, brief_=None, **facts):
    """The one finding about a look, None for none."""
    found = list(judge(seen(record, *machines, **facts), brief_ or brief()))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("record", "machine", "reading", "says"),
    [
        (on_record(), vm(), None, ""),
        (on_record(**ENDED), vm(), BAD, "ended with status 0"),
        (on_record(**ENDED), vm(status=Status.TERMINATED), BAD, "disks still cost money"),
        (on_record(**ENDED, signs=beat_at(ENDED["ended"] + GOES_ON)), vm(), BAD, "ended with status 0"),
        (
            on_record(**ENDED, signs=beat_at(ENDED["ended"] + GOES_ON + SECOND)),
            vm(),
            UNKNOWN,
            "heartbeat of test-vm came later",
        ),
        (on_record(**ENDED), vm(status=Status.STOPPING), None, ""),
        (on_record(**ENDED, state=AttemptState.ENDED), vm(), BAD, "ended with status 0"),
        (on_record(**ENDED, state=AttemptState.BACKING_OFF), vm(), None, ""),
        (on_record(**ENDED), vm(created=ago(minutes=10) + SECOND), None, ""),
        (on_record(**ENDED), vm(started=ago(minutes=10)), BAD, "ended with status 0"),
        (
            on_record(status_code="1", ended=ago(hours=2)),
            vm(started=ago(hours=1)),
            UNKNOWN,
            "it started after",
        ),
        (on_record(status_code="1", ended=ago(hours=2)), vm(started=ago(hours=2)), BAD, "status 1"),
        (on_record(state=AttemptState.STOPPED, updated=ago(hours=1)), vm(), BAD, "closed (stopped)"),
        (on_record(state=AttemptState.GAVE_UP, updated=ago(hours=1)), vm(), BAD, "closed (gave up)"),
        (on_record(state=AttemptState.STOPPED, updated=NOW - AFTER + SECOND), vm(), None, ""),
        (
            on_record(state=AttemptState.STOPPED, updated=ago(hours=1)),
            vm(status=Status.TERMINATED),
            UNKNOWN,
            "perhaps on purpose",
        ),
        (
            on_record(state=AttemptState.STOPPED, updated=ago(hours=3)),
            vm(started=ago(hours=1)),
            UNKNOWN,
            "it started after",
        ),
        (on_record(exists=False, state=None, attempt=0, instances={}), vm(), BAD, "nothing left"),
        (
            on_record(exists=False),
            vm(labels=ONLY_JOB),
            UNKNOWN,
            "nothing shows that this VM ever belonged to one",
        ),
        (
            on_record(exists=False),
            vm(labels={**ONLY_JOB, "spotwarden-attempt": "x"}),
            UNKNOWN,
            "nothing shows",
        ),
        (on_record(exists=False, past=frozenset({"1001"})), vm(labels=ONLY_JOB), BAD, "nothing left"),
        (on_record(exists=False, past=frozenset({"2"})), vm(labels=ONLY_JOB), UNKNOWN, "nothing shows"),
        (on_record(exists=False, signs=signs(cpus={"1001": 90.0})), vm(), UNKNOWN, "may be in use: the CPU"),
        (on_record(exists=False, signs=signs(problem="503")), vm(), UNKNOWN, "we couldn't check (503)"),
        (on_record(problem="bad JSON"), vm(), UNKNOWN, "bad JSON"),
        (
            on_record(attempt=2, instances=OTHER, began=ago(hours=1)),
            vm(1),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (
            on_record(attempt=2, instances=OTHER, began=NOW - AFTER),
            vm(1),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (on_record(state=None, attempt=0, instances={}), vm(labels=ONLY_JOB), BAD, "no record of this VM"),
        (
            on_record(state=None, attempt=0, instances={}),
            vm(labels=ONLY_JOB, status=Status.PENDING),
            None,
            "",
        ),
        (on_record(**ENDED), vm(status=Status.PENDING), BAD, "ended with status 0"),
        (on_record(attempt=2, instances=OTHER, began=NOW - AFTER + SECOND), vm(1), None, ""),
        (
            on_record(attempt=2, instances={"test-vm-2": "2002"}, began=ago(hours=1)),
            vm(1),
            UNKNOWN,
            "runs without this node",
        ),
        (
            on_record(
                attempt=2, instances={"trainer": "2002"}, nodes={"test-vm": "trainer"}, began=ago(hours=1)
            ),
            vm(1),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (
            on_record(attempt=2, instances=OTHER, began=ago(hours=2)),
            vm(1, started=ago(hours=1)),
            UNKNOWN,
            "started again after attempt 2",
        ),
        (
            on_record(attempt=2, instances=OTHER, began=ago(hours=2)),
            vm(1, started=ago(hours=2)),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (
            on_record(attempt=2, instances=OTHER, began=ago(hours=2)),
            vm(1, created=ago(hours=1), started=ago(hours=1)),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (on_record(attempt=2, began=ago(hours=1)), vm(1), None, ""),
        (
            on_record(attempt=2, instances=OTHER, began=ago(hours=1), past=frozenset({"1001"})),
            vm(labelled=False),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (
            on_record(attempt=2, instances=OTHER, past=frozenset({"1001"}), outlived=frozenset({"1001"})),
            vm(1),
            Reading.UNKNOWN,
            "preemption was announced",
        ),
        (
            on_record(attempt=2, instances=OTHER, past=frozenset({"1001"}), registered=frozenset({"1001"})),
            vm(1),
            BAD,
            "attempt 2 of the job has replaced it",
        ),
        (on_record(attempt=2, instances=OTHER), vm(2), BAD, "has no record of this VM"),
        (on_record(attempt=2, instances=OTHER, registered=frozenset({"1001"})), vm(2), None, ""),
        (on_record(attempt=2, instances=OTHER), vm(3), UNKNOWN, "last attempt on record is 2"),
        (on_record(attempt=2, instances=OTHER), vm(labels=ONLY_JOB), BAD, "has no record of this VM"),
        (on_record(attempt=0, state=None, instances={}), vm(), BAD, "has no record of this VM"),
        (on_record(attempt=0, state=None, instances={}), vm(2), UNKNOWN, "last attempt on record is 0"),
        (on_record(attempt=0, state=None, instances={}, registered=frozenset({"1001"})), vm(), None, ""),
        *[
            (on_record(attempt=2, state=state, instances={}, past=frozenset({"1001"})), vm(1), None, "")
            for state in (AttemptState.CLAIMED, AttemptState.PLACING, AttemptState.BACKING_OFF)
        ],
        (on_record(), vm(status=Status.TERMINATED), None, ""),
    ],
)
def test_the_table_of_orphans(record, machine, reading, says):
    """Each row is one fact apart from another that comes out differently."""
    found = verdict(record, machine)
    assert (found and found.reading) == reading
    assert says in (found.reason if found else "")


def test_a_vm_may_take_its_time_to_delete_itself():
    """Nothing is said before the full time after the end of its job."""
    on_time = on_record(status_code="0", ended=NOW - AFTER)
    early = on_record(status_code="0", ended=NOW - AFTER + SECOND)
    found = verdict(on_time)
    assert found is not None
    assert found.ripe
    assert found.since == NOW - AFTER
    assert found.due == NOW
    assert verdict(early) is None


def test_a_job_may_have_more_time():
    """A job's own word counts, where the policy's ceiling allows it."""
    policy = Policy(version="test", ceilings={"orphan": {"after": timedelta(hours=4)}})
    record = on_record(
        status_code="0", ended=ago(hours=1), file=JobFile(rules={"orphan": {"after": timedelta(hours=2)}})
    )
    assert verdict(record, brief_=brief(policy)) is None
    assert verdict(record, brief_=brief()) is not None


@pytest.mark.parametrize("field", ["created", "started"])
def test_no_vm_is_judged_before_it_is_old_enough(field):
    """It counts from when the VM was made, or last began to run."""
    gone = on_record(exists=False)
    old = vm(created=NOW - GRACE, started=NOW - GRACE)
    young = vm(**{"created": NOW - GRACE, "started": NOW - GRACE, field: NOW - GRACE + SECOND})
    assert verdict(gone, old) is not None
    assert verdict(gone, young) is None


def test_a_vm_of_unknown_age_is_not_judged():
    """Where Compute Engine does not tell when a VM began, it may have begun just now."""
    assert verdict(on_record(exists=False), vm(created=None, started=None)) is None


def test_what_has_no_date_counts_from_when_it_was_first_seen():
    """Nobody knows since when a record is gone: the first look says it, and only a later one is ripe."""
    gone = on_record(exists=False)
    first = verdict(gone)
    assert first is not None
    assert not first.ripe
    assert first.since == NOW
    assert first.due == NOW + AFTER
    almost = verdict(gone, brief_=brief(cases=case("orphan", "1001", since=NOW - AFTER + SECOND)))
    full = verdict(gone, brief_=brief(cases=case("orphan", "1001", since=NOW - AFTER)))
    assert almost is not None
    assert full is not None
    assert (almost.ripe, full.ripe) == (False, True)


def test_what_we_could_not_see_does_not_count():
    """After an outage of our own, what has no date counts from its end."""
    gone = on_record(exists=False)
    told = case("orphan", "1001", since=ago(days=1))
    after_outage = verdict(gone, brief_=brief(cases=told, steady=NOW - AFTER + SECOND))
    steady = verdict(gone, brief_=brief(cases=told, steady=NOW - AFTER))
    assert after_outage is not None
    assert steady is not None
    assert (after_outage.ripe, steady.ripe) == (False, True)


def test_a_bucket_without_any_job_says_nothing_about_one():
    """It is likelier that the function looks at the wrong bucket than that all jobs are gone."""
    gone = on_record(exists=False)
    found = verdict(gone, bare=True)
    assert found is not None
    assert found.reading is UNKNOWN
    assert not found.ripe


def test_a_vm_that_only_has_our_label_is_no_orphan_unless_the_policy_says_so():
    """Nobody's request of ours made it: it is told to ops and is not ours to delete."""
    gone, notebook = on_record(exists=False, owner=""), vm(labels=ONLY_JOB)
    found = verdict(gone, notebook)
    assert found is not None
    assert (found.subject.ours, found.ripe) == (False, False)
    policy = Policy(version="test", orphan=OrphanLimits(foreign=True))
    meant = verdict(gone, notebook, brief_=brief(policy, cases=case("orphan", "1001", since=NOW - AFTER)))
    assert meant is not None
    assert (meant.subject.ours, meant.reading, meant.ripe) == (True, BAD, True)


def managed(manager="GKE", **facts):
    """A VM with our label that a Google service has made."""
    return vm(**{"labels": ONLY_JOB, "manager": manager, **facts})


def test_what_a_google_service_has_made_is_told_once_for_each_label_and_service():
    """Three nodes of one cluster are one case, a group of VMs with the same label another; none is ours."""
    nodes = [managed(id=str(one), name=f"gke-{one}") for one in (1, 2, 3)]
    group = managed("a managed instance group", id="9")
    facts = seen(on_record(), *nodes, group, whose={}, jobs={})
    first, second = judge(facts, brief())
    assert len({first.subject.key, second.subject.key}) == 2
    assert [one.id for one in first.subject.targets] == ["1", "2", "3"]
    for found in (first, second):
        assert (found.reading, found.subject.ours, found.subject.job) == (UNKNOWN, False, "")
        assert "spotwarden-job=test-vm" in found.reason
    assert "GKE manages gke-1" in first.reason


def test_a_google_services_vm_without_our_label_is_nobodys_business():
    """Nor is one whose id a job has on record a stranger."""
    plain = seen(on_record(), managed(labels={}), whose={}, jobs={})
    assert list(judge(plain, brief())) == []
    known = seen(on_record(), managed(labels=ONLY_JOB))
    assert list(judge(known, brief())) == []


def test_what_is_unknown_carries_no_moment_and_is_never_ripe():
    """Nothing can count from it later."""
    found = verdict(on_record(problem="no answer"))
    assert found is not None
    assert (found.reading, found.ripe, found.since, found.due) == (UNKNOWN, False, None, None)


def test_the_vm_is_addressed_by_its_id():
    """Its name may be another's by the time something is done."""
    found = verdict(on_record(**ENDED))
    assert found is not None
    assert found.subject.key == "1001"
    assert [(one.id, one.name, one.zone) for one in found.subject.targets] == [
        ("1001", "test-vm", "us-central1-a")
    ]
    assert found.subject.owner == "ann@x.org"
    assert found.subject.ours
    assert found.limits.remedy is Remedy.DELETE


def test_the_owner_of_a_vm_whose_job_is_gone_stands_on_its_label():
    """Somebody should hear of it."""
    gone = on_record(exists=False, owner="")
    found = verdict(gone, vm(labels={**vm().labels, "owner": "ben"}))
    assert found is not None
    assert found.subject.owner == "ben"


@pytest.mark.parametrize(
    ("machine", "file", "exempt"),
    [
        (vm(), JobFile(), False),
        (vm(keep="2026-11-21"), JobFile(), True),
        (vm(keep="2026-11-20"), JobFile(), False),
        (vm(), JobFile(keep_until=date(2026, 11, 21)), True),
        (vm(), JobFile(keep_until=date(2026, 11, 20)), False),
        (vm(), JobFile(problem="broken"), True),
    ],
)
def test_who_wants_it_kept_is_heard(machine, file, exempt):
    """By a label with a date on the VM, and by the job's own file."""
    found = verdict(on_record(**ENDED, file=file), machine)
    assert found is not None
    assert bool(found.exempt) is exempt


def test_an_owner_may_be_exempt():
    """By the policy, to a day."""
    spared = Exemption(owner="ann@*", until=date(2026, 11, 21), why="paper")
    policy = Policy(version="test", governance=GovernanceLimits(exemptions=(spared,)))
    found = verdict(on_record(**ENDED), brief_=brief(policy))
    assert found is not None
    assert "paper" in found.exempt


def test_a_namesake_is_told_about_where_the_project_is_looked_at_and_never_touched():
    """A VM that merely has a job's name is not ours."""
    facts = {"whose": {}, "namesakes": {"1001": "test-vm"}}
    project = Policy(version="test", governance=GovernanceLimits(scope=Scope.PROJECT))
    record = on_record(**ENDED)
    found = verdict(record, vm(labelled=False), brief_=brief(project), **facts)
    assert found is not None
    assert (found.reading, found.subject.ours, found.ripe) == (UNKNOWN, False, False)
    assert verdict(record, vm(labelled=False), **facts) is None
    still_runs = on_record(instances=OTHER)
    assert verdict(still_runs, vm(labelled=False), brief_=brief(project), **facts) is None
    young = on_record(status_code="0", ended=NOW - AFTER + SECOND)
    assert verdict(young, vm(labelled=False), brief_=brief(project), **facts) is None


def test_two_vms_of_one_name_are_two():
    """The job's own VM in one zone is left alone; its namesake with an old attempt's label is not."""
    mine = vm(2, id="2002", zone="us-east1-b")
    record = on_record(attempt=2, instances=OTHER, began=ago(hours=1))
    found = list(judge(seen(record, vm(1), mine), brief()))
    assert [one.subject.key for one in found] == ["1001"]


def test_half_a_gang_that_was_left_over_is_found_vm_by_vm():
    """A gang whose job was stopped: every node that still runs is an orphan of its own."""
    gang = [vm(id=str(one), name=f"gang-{one}") for one in (1, 2)]
    record = on_record(
        state=AttemptState.STOPPED, updated=ago(hours=1), instances={"gang-1": "1", "gang-2": "2"}
    )
    assert [one.subject.key for one in judge(seen(record, *gang), brief())] == ["1", "2"]


def test_the_rest_of_a_gang_is_left_while_a_person_starts_it_again():
    """One node began to run a moment ago: recovery opens the job, and the others are its nodes."""
    begun, other = vm(id="1", name="gang-1", started=ago(minutes=1)), vm(id="2", name="gang-2")
    record = on_record(
        state=AttemptState.STOPPED, updated=ago(hours=1), instances={"gang-1": "1", "gang-2": "2"}
    )
    assert list(judge(seen(record, begun, other), brief())) == []


def test_a_job_that_was_not_asked_about_is_left_alone():
    """Of young VMs nothing is asked, so nothing is said."""
    facts = seen(on_record(exists=False))
    assert list(judge(facts, brief()))
    none = seen(on_record(exists=False), jobs={})
    assert list(judge(none, brief())) == []


def test_what_is_judged_says_what_was_seen():
    """Only VMs that run count; a partial list is passed on; what nobody looked at is not judged."""
    machines = (vm(), vm(id="2", status=Status.TERMINATED), vm(id="3", labelled=False))
    facts = seen(
        on_record(), *machines, whose={"1001": "test-vm", "2": "test-vm"}, namesakes={"3": "test-vm"},
        unreachable=("us-east1-b",),
    )  # fmt: skip
    judged = judge_all(facts, brief())
    assert judged.present == {"1001", "3"}
    assert judged.fleet == 1
    assert judged.hidden == ("us-east1-b",)
    assert judged.rules == ("orphan", "stall", "early_stop")
    assert judge_all(seen(on_record(), leftovers=()), brief()).rules == (
        "orphan",
        "leftover",
        "stall",
        "early_stop",
    )


CLOSED_GANG = {
    "state": AttemptState.STOPPED,
    "updated": NOW - 2 * AFTER,
    "removed": frozenset({"1002"}),
    "instances": {"test-vm-1": "1001", "test-vm-2": "1002"},
}


def test_a_working_node_of_a_gang_that_was_closed_for_another_node_is_only_told_of():
    """Nobody has said a word of this one: it is not deleted."""
    assert verdict(on_record(**CLOSED_GANG)).reading is UNKNOWN


@pytest.mark.parametrize(
    "other",
    [
        {"removed": frozenset()},
        {"removed": frozenset({"1001"})},
        {"status_code": "0", "ended": NOW - 2 * AFTER},
        {"state": AttemptState.GAVE_UP},
    ],
)
def test_what_is_left_of_a_job_that_is_over_in_another_way_goes(other):
    """One that its owner has stopped, one that was removed itself, one that has ended or was given up."""
    assert verdict(on_record(**{**CLOSED_GANG, **other})).reading is BAD
