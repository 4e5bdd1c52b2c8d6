"""Caps on a job over all its attempts, and on each VM: both sides of every limit."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.governance.caps.facts import JobAttempts
from spotwarden.governance.caps.jobs import extendable
from spotwarden.model.attempt import AttemptState
from spotwarden.model.finding import Target
from spotwarden.model.governance import Remedy, Scope
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Team
from spotwarden.model.rule_limits import InstanceCap, JobCap
from tests.governance.caps.capped import (
    ADA,
    GRANTED,
    HOUR,
    NOW,
    asked,
    attempt,
    extended,
    facts,
    found,
    judged,
    policy,
    up_for,
    verdict,
    vm,
)

TEN = policy(job=JobCap(max_runtime=10 * HOUR))
SHARES = [
    (0.799, None),
    (0.80, ("bad", 1, False)),
    (0.949, ("bad", 1, False)),
    (0.95, ("bad", 2, False)),
    (0.999, ("bad", 2, False)),
    (1.0, ("bad", 2, True)),
    (3.0, ("bad", 2, True)),
]


# --- A job's time ---


@pytest.mark.parametrize(("share", "says"), SHARES)
def test_a_job_is_warned_at_80_and_95_percent_and_due_at_100(share, says):
    """Both sides of every limit."""
    assert verdict(found(up_for(share * 10 * HOUR), TEN)) == says


def test_a_job_without_any_limit_is_left_alone():
    """However long it runs."""
    assert found(up_for(1000 * HOUR), policy()) is None


def test_other_shares_are_the_policys_to_choose():
    """One warning at half the time."""
    half = policy(job=JobCap(max_runtime=10 * HOUR, warn=(0.5,)))
    assert verdict(found(up_for(4.9 * HOUR), half)) is None
    assert verdict(found(up_for(5 * HOUR), half)) == ("bad", 1, False)


def test_without_warning_shares_the_full_limit_is_told():
    """A policy that warns of nothing still tells before it acts."""
    silent = policy(job=JobCap(max_runtime=10 * HOUR, warn=()))
    assert found(up_for(9.9 * HOUR), silent) is None
    assert verdict(found(up_for(10 * HOUR), silent)) == ("bad", 1, True)


@pytest.mark.parametrize(("own", "agreed", "limit"), [(5, 10, "5 h"), (10, 5, "5 h"), (5, None, "5 h")])
def test_the_lower_of_the_jobs_and_the_policys_limit_holds(own, agreed, limit):
    """A job may bind itself tighter, never looser."""
    said = policy(job=JobCap(max_runtime=agreed * HOUR if agreed else None))
    finding = found(up_for(4.5 * HOUR, file=JobFile(max_runtime=own * HOUR)), said)
    assert f"of {limit}" in finding.reason


def test_the_finding_tells_since_when_and_until_when():
    """At eight hours of ten it was just reached, and there are two hours left."""
    finding = found(up_for(8.5 * HOUR), TEN)
    assert finding.since == NOW - 0.5 * HOUR
    assert finding.due == NOW + 1.5 * HOUR
    assert finding.evidence == {GRANTED: "8.5 h of 10 h (85%)"}
    assert finding.subject.owner == ADA
    assert "spotwarden extend test-vm --by 4h" in finding.todo


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        (timedelta(seconds=59), "59 s of 59 s"),
        (timedelta(seconds=60), "1 min of 1 min"),
        (timedelta(minutes=59), "59 min of 59 min"),
        (timedelta(minutes=60), "1 h of 1 h"),
        (timedelta(hours=1500), "1500 h of 1500 h"),
    ],
)
def test_time_is_told_as_a_person_says_it(limit, says):
    """A job of seconds is not told of thousandths of an hour."""
    finding = found(up_for(limit), policy(job=JobCap(max_runtime=limit)))
    assert finding.evidence[GRANTED].startswith(says)


def test_the_time_between_two_attempts_does_not_count():
    """Four hours up, ninety down, four up again: eight hours."""
    past = attempt(1, ago=98 * HOUR)
    now = attempt(2, ago=4 * HOUR, lost=94 * HOUR)
    seen = facts(vm(up=4 * HOUR), records={"test-vm": JobAttempts(attempts=(past, now))})
    assert found(seen, TEN).evidence[GRANTED].startswith("8 h of 10 h")


def test_a_gang_is_up_once_however_many_nodes_it_has():
    """Its time is the job's, not the sum over its VMs; all of them are what the remedy is for."""
    nodes = [vm(str(n), f"gang-{n}", "gang", up=8 * HOUR) for n in (1, 2, 3)]
    said = JobAttempts(
        attempts=(attempt(ago=8 * HOUR, instances={"gang-1": "1", "gang-2": "2", "gang-3": "3"}),)
    )
    finding = found(facts(*nodes, records={"gang": said}), TEN)
    assert verdict(finding) == ("bad", 1, False)
    assert [one.id for one in finding.subject.targets] == ["1", "2", "3"]


def test_what_runs_and_is_on_no_record_counts_from_its_own_start():
    """A job that was launched by hand a moment before anybody wrote it down."""
    assert verdict(found(facts(vm(up=8 * HOUR)), TEN)) == ("bad", 1, False)
    assert found(facts(vm(up=7.9 * HOUR)), TEN) is None


def test_a_new_launch_after_a_stop_adds_to_what_was_before():
    """Seven hours until its owner stopped it, one since it was launched by hand; not the time in between."""
    stopped = attempt(ago=50 * HOUR, state=AttemptState.STOPPED, updated=NOW - 43 * HOUR)
    seen = facts(vm(key="12", up=HOUR), records={"test-vm": JobAttempts(attempts=(stopped,))})
    assert found(seen, TEN).evidence[GRANTED].startswith("8 h of 10 h")


def test_a_job_that_has_ended_is_left_to_the_orphans():
    """Its VM is not needed at all; that its time is nearly used up is of no interest to anybody."""
    assert found(up_for(9.9 * HOUR, ended=True), TEN) is None


def test_a_job_that_says_it_has_ended_and_runs_beyond_its_limit_is_found():
    """A VM writes its status itself, and its heartbeats after that would keep the orphans off for ever."""
    assert verdict(found(up_for(20 * HOUR, ended=True), TEN)) == ("bad", 2, True)


def test_a_job_over_its_limit_is_not_ripe_while_its_vm_is_young():
    """Nothing is made of a VM that has just been launched."""
    past = attempt(1, ago=98 * HOUR)
    for age, ripe in ((timedelta(minutes=9, seconds=59), False), (timedelta(minutes=10), True)):
        now = attempt(2, ago=age, lost=80 * HOUR)
        seen = facts(vm(up=age), records={"test-vm": JobAttempts(attempts=(past, now))})
        assert verdict(found(seen, TEN)) == ("bad", 2, ripe)


def test_one_young_vm_keeps_its_whole_gang():
    """A node that was just brought back: the others are not stopped beside it."""
    old, young = vm("1", "gang-1", "gang", up=20 * HOUR), vm("2", "gang-2", "gang", up=HOUR / 60)
    assert verdict(found(facts(old, young), TEN)) == ("bad", 2, False)
    assert verdict(found(facts(young, old), TEN)) == ("bad", 2, False)
    assert verdict(found(facts(old, replace(young, started=NOW - HOUR)), TEN)) == ("bad", 2, True)


def test_a_refilled_node_keeps_no_gang_that_bends_beyond_its_limit():
    """Nodes come and go each few minutes, and it would never be stopped: it runs since its first VM does."""
    old, young = vm("1", "gang-1", "gang", up=20 * HOUR), vm("2", "gang-2", "gang", up=HOUR / 60)
    bends = {"gang": JobAttempts(file=JobFile(nodes="1:2"))}
    assert verdict(found(facts(old, young, records=bends), TEN)) == ("bad", 2, True)
    assert verdict(found(facts(young, old, records=bends), TEN)) == ("bad", 2, True)
    anew = replace(old, started=NOW - HOUR / 60)
    assert verdict(found(facts(anew, young, records=bends), TEN)) != ("bad", 2, True)


def test_a_vm_that_outlives_its_attempt_counts_once():
    """Closed an hour ago after seven hours, and its VM still runs: eight, not fifteen."""
    closed = attempt(ago=8 * HOUR, state=AttemptState.STOPPED, updated=NOW - HOUR)
    seen = facts(vm(up=8 * HOUR), records={"test-vm": JobAttempts(attempts=(closed,))})
    assert found(seen, TEN).evidence[GRANTED].startswith("8 h of 10 h")


# --- What nobody knows ---


def test_records_that_cannot_be_read_are_unknown():
    """Nothing is done by half of what is known."""
    finding = found(up_for(20 * HOUR, problem="answered 503"), TEN)
    assert finding.reading.value == "unknown"
    assert "answered 503" in finding.reason


def test_a_vm_that_starts_in_the_future_means_a_wrong_clock():
    """Two minutes may be; more judges nothing."""
    near, far = vm(up=-timedelta(minutes=2)), vm(up=-timedelta(minutes=2, seconds=1))
    assert found(facts(near), TEN) is None
    assert "a clock is wrong" in found(facts(far), TEN).reason


def test_a_clock_an_hour_behind_never_makes_a_job_older():
    """Time that would be negative is none."""
    assert found(up_for(8.5 * HOUR), TEN, now=NOW - HOUR) is None


def test_a_vm_of_which_nobody_knows_since_when_it_runs_is_unknown():
    """Neither its start nor its creation is told."""
    finding = found(facts(replace(vm(), started=None, created=None)), TEN)
    assert finding.reading.value == "unknown"


# --- Who is exempt ---


@pytest.mark.parametrize(
    ("said", "exempt"),
    [
        ({"file": JobFile(keep_until=NOW.date())}, True),
        ({"file": JobFile(keep_until=NOW.date() - timedelta(days=1))}, False),
        ({"file": JobFile(problem="no TOML")}, True),
    ],
)
def test_a_job_may_be_exempt_by_its_own_file(said, exempt):
    """It is told all the same."""
    finding = found(up_for(10 * HOUR, **said), TEN)
    assert bool(finding.exempt) is exempt
    assert finding.ripe


def test_one_kept_vm_keeps_the_whole_gang():
    """Half a gang is no use to anybody."""
    nodes = [vm("1", "gang-1", "gang", up=20 * HOUR), vm("2", "gang-2", "gang", up=20 * HOUR)]
    assert not found(facts(*nodes), TEN).exempt
    nodes[1] = replace(nodes[1], labels={**nodes[1].labels, "spotwarden-keep": "2026-03-18"})
    assert "2026-03-18" in found(facts(*nodes), TEN).exempt


def test_a_team_may_have_other_limits():
    """And they are the ones that the finding carries."""
    said = replace(
        TEN, teams={"slow": Team(owners=("ada@*",), rules={"job_cap": {"max_runtime": 20 * HOUR}})}
    )
    assert found(up_for(10 * HOUR), said) is None
    assert found(up_for(16 * HOUR), said).limits.max_runtime == 20 * HOUR


# --- Extension ---


@pytest.mark.parametrize(
    ("hours", "says"),
    [
        (8.0, ("bad", 0, False)),
        (11.1, ("bad", 0, False)),
        (11.2, ("bad", 1, False)),
        (13.3, ("bad", 2, False)),
        (13.9, ("bad", 2, False)),
        (14.0, ("bad", 2, True)),
    ],
)
def test_four_hours_granted_once_make_ten_fourteen(hours, says):
    """Its case stays open, at level 0, while it would be open without: else what was granted were lost."""
    said = policy(job=JobCap(max_runtime=10 * HOUR, longest=20 * HOUR))
    assert verdict(found(up_for(hours * HOUR), said, a=extended(4.0))) == says


@pytest.mark.parametrize("hours", [8.1, 13.9])
def test_the_end_of_a_job_takes_back_nothing_that_was_granted(hours):
    """Its VM may run on after its status was written, up to the limit that its owner was told."""
    said = policy(job=JobCap(max_runtime=10 * HOUR, longest=20 * HOUR))
    assert verdict(found(up_for(hours * HOUR, ended=True), said, a=extended(4.0))) == ("bad", 0, False)


def test_an_extended_job_far_from_its_first_limit_is_content():
    """Nothing is kept open for nothing."""
    said = policy(job=JobCap(max_runtime=10 * HOUR, longest=20 * HOUR))
    assert found(up_for(7.9 * HOUR), said, a=extended(4.0)) is None


@pytest.mark.parametrize(("longest", "ripe_at"), [(12, 12), (20, 14), (None, 10), (5, 10)])
def test_nobody_is_granted_more_than_the_policys_longest(longest, ripe_at):
    """Whatever the case says; where the policy says nothing its own limit is the longest."""
    said = policy(job=JobCap(max_runtime=10 * HOUR, longest=longest * HOUR if longest else None))
    assert not found(up_for((ripe_at - 0.1) * HOUR), said, a=extended(4.0)).ripe
    assert found(up_for(ripe_at * HOUR), said, a=extended(4.0)).ripe


def test_a_jobs_own_limit_can_be_extended_up_to_the_policys():
    """It bound itself to five hours, the policy allows ten."""
    own = JobFile(max_runtime=5 * HOUR)
    assert not found(up_for(9.9 * HOUR, file=own), TEN, a=extended(20.0)).ripe
    assert found(up_for(10 * HOUR, file=own), TEN, a=extended(20.0)).ripe


@pytest.mark.parametrize(
    ("more", "limits", "own", "refused"),
    [
        (4.0, JobCap(max_runtime=10 * HOUR, longest=14 * HOUR), None, ""),
        (4.1, JobCap(max_runtime=10 * HOUR, longest=14 * HOUR), None, "4 h can still be granted"),
        (0.1, JobCap(max_runtime=10 * HOUR), None, "0 h can still be granted"),
        (5.0, JobCap(max_runtime=10 * HOUR), 5, ""),
        (5.1, JobCap(max_runtime=10 * HOUR), 5, "5 h can still be granted"),
        (500.0, JobCap(), 5, ""),
        (0.0, JobCap(), 5, "longer than 0"),
        (1.0, JobCap(budget=10.0), None, "job_cap.dearest"),
        (1.0, JobCap(budget=10.0, dearest=20.0), None, ""),
    ],
)
def test_what_a_person_may_grant(more, limits, own, refused):
    """Within the policy's longest, what was granted before included."""
    file = JobFile(max_runtime=own * HOUR if own else None)
    answer = extendable(extended(0.0), more, limits, file)
    assert refused in answer
    assert bool(answer) is bool(refused)


@pytest.mark.parametrize(("left", "helps"), [(1.5, False), (5.4, False), (5.5, True), (None, True)])
def test_a_run_time_that_compute_engine_ends_is_not_said_to_be_extendable(left, helps):
    """Due in 1.5 h, an extension is 4 h: a VM that ends before those are over cannot have them."""
    ends = None if left is None else NOW + left * HOUR
    finding = found(facts(vm(up=8.5 * HOUR, ends=ends)), TEN)
    assert ("spotwarden extend test-vm --by 4h" in finding.todo) is helps
    assert ("Compute Engine ends it at" in finding.todo) is not helps
    assert ("raise max_runtime" in finding.todo) is not helps


@pytest.mark.parametrize(("left", "refused"), [(1.5, True), (3.4, True), (3.5, False), (None, False)])
def test_nobody_is_granted_what_compute_engine_would_not_give(left, refused):
    """Two hours more than the 1.5 that are left: a VM that runs takes no other maxRunDuration."""
    target = Target(id="11", name="test-vm", zone="z", ends=None if left is None else NOW + left * HOUR)
    case = replace(extended(0.0), due=NOW + 1.5 * HOUR)
    case = replace(case, subject=replace(case.subject, targets=(target,)))
    limits = JobCap(max_runtime=10 * HOUR, longest=20 * HOUR)
    answer = extendable(case, 2.0, limits, JobFile())
    assert bool(answer) is refused
    assert ("maxRunDuration" in answer and "spotwarden restart test-vm" in answer) is refused


def test_what_was_granted_before_counts():
    """Three hours and then one are four."""
    limits = JobCap(max_runtime=10 * HOUR, longest=14 * HOUR)
    assert extendable(extended(3.0), 1.0, limits, JobFile()) == ""
    assert "1 h can still" in extendable(extended(3.0), 1.1, limits, JobFile())


# --- One VM ---


@pytest.mark.parametrize(("share", "says"), SHARES)
def test_a_vm_is_capped_by_the_time_since_it_was_started(share, says):
    """Both sides of every limit."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR))
    finding = found(facts(vm(up=share * 10 * HOUR)), said)
    assert verdict(finding) == says
    assert finding is None or finding.subject.key == "11"


@pytest.mark.parametrize(("second", "ripe"), [(7.9, None), (8, False), (9.9, False), (10, True)])
def test_a_gang_is_capped_as_one_by_the_node_that_was_started_last(second, ripe):
    """Nothing is done to one node while its others go on, whose work would be lost with it."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR, remedy=Remedy.STOP))
    nodes = [vm("1", "gang-1", "gang", up=12 * HOUR), vm("2", "gang-2", "gang", up=second * HOUR)]
    finding = found(facts(*nodes), said)
    assert (finding and finding.ripe) is ripe
    if finding is not None:
        assert (finding.subject.key, finding.subject.job) == ("gang", "gang")
        assert [target.id for target in finding.subject.targets] == ["1", "2"]


def test_which_vms_are_a_gang_says_the_record_and_not_the_label():
    """A node that was refilled bears the number of a later attempt; a VM of an attempt before is no node."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR, remedy=Remedy.STOP))
    labels = [{"spotwarden-attempt": "1"}, {"spotwarden-attempt": "2"}]
    first, last = (
        vm(str(number), f"gang-{number}", "gang", up=12 * HOUR, labels=label)
        for number, label in enumerate(labels, 1)
    )
    whole = JobAttempts(attempts=(attempt(2, ago=12 * HOUR, instances={"gang-1": "1", "gang-2": "2"}),))
    apart = JobAttempts(
        attempts=(
            attempt(1, ago=20 * HOUR, instances={"gang-1": "1"}),
            attempt(2, ago=12 * HOUR, lost=12 * HOUR, instances={"gang-2": "2"}),
        )
    )
    keys = [
        sorted(
            finding.subject.key
            for finding in judged(facts(first, last, records={"gang": known}), said).findings
        )
        for known in (whole, apart)
    ]
    assert keys == [["gang"], ["1", "2"]]


def test_a_vm_that_was_started_again_begins_anew():
    """Created a week ago, started an hour ago."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR))
    assert found(facts(replace(vm(up=HOUR), created=NOW - 168 * HOUR)), said) is None


def test_without_a_start_its_creation_counts():
    """It cannot have been up for longer."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR))
    assert found(facts(replace(vm(up=10 * HOUR), started=None)), said).ripe


def test_a_vm_of_a_job_whose_records_cannot_be_read_is_unknown():
    """Its job.toml might keep it."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR))
    seen = facts(vm(up=20 * HOUR), records={"test-vm": JobAttempts(problem="answered 503")})
    readings = {one.rule: one.reading.value for one in judged(seen, said).findings}
    assert readings["instance_cap"] == "unknown"


def test_a_vm_that_is_no_jobs_is_told_about_and_never_touched():
    """The look leaves it out unless the policy wants all of the project looked at."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR), scope=Scope.PROJECT)
    finding = found(facts(vm(job="", up=20 * HOUR)), said)
    assert not finding.subject.ours
    assert judged(facts(vm(job="", up=20 * HOUR)), said).fleet == 0


def test_two_vms_of_one_name_are_two():
    """Each by its id."""
    said = policy(instance=InstanceCap(max_uptime=10 * HOUR))
    seen = facts(vm("1", up=20 * HOUR), vm("2", up=HOUR, zone="us-east1-b"))
    assert [one.subject.key for one in judged(seen, said).findings] == ["1"]


# --- All of it ---


def test_what_is_judged_says_what_was_seen():
    """Who runs, how many of them are jobs', and what was hidden."""
    seen = facts(vm("1"), vm("2", job=""), hidden=("us-east1-b",))
    result = judged(seen, policy())
    assert (result.present, result.fleet, result.hidden) == ({"1", "2"}, 1, ("us-east1-b",))
    assert set(result.rules) == {"job_cap", "instance_cap", "owner_cap"}


@given(
    hours=st.floats(min_value=0.2, max_value=1000),
    limit=st.floats(min_value=0.1, max_value=500),
    more=st.floats(min_value=0, max_value=500),
)
def test_more_time_never_makes_it_worse(hours, limit, more):
    """A grant never raises the level, and never makes ripe what was not."""
    said = policy(job=JobCap(max_runtime=limit * HOUR, longest=1000 * HOUR))
    plain = found(up_for(hours * HOUR), said)
    granted = found(up_for(hours * HOUR), said, a=extended(more))
    assert (plain is None) == (granted is None)
    if plain and granted:
        assert granted.level <= plain.level
        assert granted.ripe <= plain.ripe


def test_an_on_demand_try_says_nothing_about_time():
    """Where and how it runs is money's business."""
    said = JobAttempts(attempts=(attempt(ago=8 * HOUR, tries=asked(spot=False)),))
    assert verdict(found(facts(vm(up=8 * HOUR), records={"test-vm": said}), TEN)) == ("bad", 1, False)
