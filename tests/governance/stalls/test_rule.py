"""Which jobs hang, which move, and of which nobody can tell."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.signals.table import SignalTable
from spotwarden.governance.signals.text import target
from spotwarden.governance.stalls.rule import judge, quiet
from spotwarden.model.attempt import AttemptState
from spotwarden.model.finding import Reading, Subject
from spotwarden.model.governance import Remedy
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy, Team
from spotwarden.model.rule_limits import Proof, StallLimits
from tests.governance.reap.reapable import BEGAN, SECOND, TICK, ago, brief, case, on_record, seen, signs, vm
from tests.recovery.facts import NOW

AFTER = StallLimits().after
LONG_AGO = NOW - AFTER
JUST_NOW = NOW - AFTER + SECOND
BAD, UNKNOWN = Reading.BAD, Reading.UNKNOWN
NODES = {"gang-1": "1", "gang-2": "2"}
GANG = tuple(vm(id=one, name=node) for node, one in NODES.items())


def verdict(record, *machines, brief_=None, **facts):
    """The one finding about a job, None for none."""
    found = list(judge(seen(record, *machines, **facts), brief_ or brief()))
    assert len(found) <= 1
    return found[0] if found else None


def reading(record, *machines, **facts):
    """How the job reads; None where it moves."""
    found = verdict(record, *machines, **facts)
    return found and found.reading


def heard(**facts):
    """The job of the VM 1001, of which this was heard."""
    return on_record(signs=signs(**facts))


@pytest.mark.parametrize(
    ("given", "reads"),
    [
        ({"beats": {"test-vm": LONG_AGO}}, BAD),
        ({"beats": {"test-vm": JUST_NOW}}, None),
        ({"output": LONG_AGO}, UNKNOWN),
        ({"output": JUST_NOW}, None),
        ({"lines": {"1001": LONG_AGO}}, UNKNOWN),
        ({"lines": {"1001": JUST_NOW}}, None),
        ({"beats": {"test-vm": LONG_AGO}, "output": LONG_AGO, "lines": {"1001": LONG_AGO}}, BAD),
        ({"beats": {"test-vm": JUST_NOW}, "output": LONG_AGO, "lines": {"1001": LONG_AGO}}, None),
        ({"beats": {"test-vm": LONG_AGO}, "output": JUST_NOW, "lines": {"1001": LONG_AGO}}, None),
        ({"beats": {"test-vm": LONG_AGO}, "output": LONG_AGO, "lines": {"1001": JUST_NOW}}, None),
        ({"beats": {"test-vm": LONG_AGO}, "cpus": {"1001": 100.0}}, UNKNOWN),
        ({"beats": {"test-vm": NOW}, "progress": {"test-vm": LONG_AGO}}, BAD),
        ({"beats": {"test-vm": NOW}, "progress": {"test-vm": JUST_NOW}}, None),
        ({"beats": {"test-vm": LONG_AGO}, "cpus": {"1001": 0.1}}, BAD),
        ({"beats": {"test-vm": LONG_AGO}, "problem": "no answer"}, UNKNOWN),
        ({"beats": {"test-vm": JUST_NOW}, "problem": "no answer"}, None),
        ({}, UNKNOWN),
        ({"cpus": {"1001": 0.1}}, UNKNOWN),
        ({"cpus": {"1001": 100.0}}, UNKNOWN),
        ({"beats": {"test-vm": NOW + timedelta(minutes=1)}}, None),
    ],
)
def test_the_table_of_stalls(given, reads):
    """A job hangs once nothing has moved for the full time and its CPU is at rest; to be alive is no sign."""
    assert reading(heard(**given)) == reads


@pytest.mark.parametrize(
    ("given", "proof", "reads"),
    [
        ({"beats": {"test-vm": LONG_AGO}}, Proof.HEARTBEAT, BAD),
        ({"output": LONG_AGO}, Proof.HEARTBEAT, UNKNOWN),
        ({"output": LONG_AGO}, Proof.OUTPUT, BAD),
        ({"output": JUST_NOW}, Proof.OUTPUT, None),
        ({"lines": {"1001": LONG_AGO}}, Proof.OUTPUT, UNKNOWN),
        ({"lines": {"1001": LONG_AGO}}, Proof.ANY, BAD),
        ({"lines": {"1001": JUST_NOW}}, Proof.ANY, None),
        ({"output": LONG_AGO, "lines": {"1001": LONG_AGO}}, Proof.HEARTBEAT, UNKNOWN),
    ],
)
def test_only_silence_that_means_something_condemns(given, proof, reads):
    """A checkpoint may come each third hour, a program may print once; a heartbeat is meant to be regular."""
    stall = {"stall": {"proof": proof.value}}
    asked = on_record(signs=signs(**given), file=JobFile(rules=stall))
    assert reading(asked) == reads


def test_a_job_that_writes_no_heartbeat_is_told_how_to():
    """It may hang, or it may be its way: nothing is done."""
    found = verdict(heard(output=LONG_AGO))
    assert found is not None
    assert "writes no heartbeat" in found.reason
    assert "metadata/heartbeat/" in found.todo
    assert not found.ripe


def test_a_job_that_never_gave_a_sign_is_told_how_to_give_one():
    """We couldn't check whether it hangs, so nothing will be done."""
    found = verdict(heard(cpus={"1001": 0.1}))
    assert found is not None
    assert (found.reading, found.ripe, found.since) == (UNKNOWN, False, None)
    assert "reports nothing that would tell" in found.reason
    assert "metadata/heartbeat/" in found.todo
    assert found.evidence["busiest CPU in the last hour"] == "0.1%, at rest"


@pytest.mark.parametrize(("cpu", "says", "reads"), [(2.99, "3.0%, at rest", BAD), (3.0, "3.0%", UNKNOWN)])
def test_a_cpu_at_work_makes_it_unknown(cpu, says, reads):
    """It may be between two lines; it is said, on both sides of the limit."""
    found = verdict(heard(beats={"test-vm": LONG_AGO}, cpus={"1001": cpu}))
    assert found is not None
    assert found.reading is reads
    assert found.evidence["busiest CPU in the last hour"] == says


def test_the_silence_begins_with_the_last_sign():
    """Of whatever kind that was."""
    found = verdict(heard(beats={"test-vm": ago(hours=5)}, output=ago(hours=3)))
    assert found is not None
    assert found.since == ago(hours=3)
    assert found.due == ago(hours=1)
    assert found.ripe
    assert "3 h: " in found.reason
    assert found.limits.remedy is Remedy.STOP


@pytest.mark.parametrize("field", ["created", "started"])
def test_silence_from_before_the_vm_began_does_not_count(field):
    """A job that was started again gets the full time to give its first sign, whatever came before."""
    silent = heard(beats={"test-vm": ago(days=3)})
    times = {"created": BEGAN, "started": BEGAN}
    assert reading(silent, vm(**{**times, field: LONG_AGO})) == BAD
    assert reading(silent, vm(**{**times, field: JUST_NOW})) is None
    assert reading(heard(), vm(**{**times, field: LONG_AGO})) == UNKNOWN
    assert reading(heard(), vm(**{**times, field: JUST_NOW})) is None


def test_a_sign_from_before_a_restart_of_the_vm_shows_that_the_attempt_can_give_one():
    """The VM was stopped and started: it has had the full time since then, and has given none."""
    found = verdict(heard(beats={"test-vm": BEGAN - timedelta(days=1)}))
    assert found is not None
    assert (found.reading, found.since) == (BAD, BEGAN)


@pytest.mark.parametrize(("attempt", "reads"), [(2, BAD), (1, UNKNOWN), (0, UNKNOWN)])
def test_a_heartbeat_of_one_attempt_proves_nothing_of_the_silence_of_another(attempt, reads):
    """Attempt 2 has never given a sign of its own: that it hangs is not known."""
    second = heard(beats={"test-vm": LONG_AGO})
    rows = tuple(replace(row, attempt=attempt) for row in second.signals.nodes if row.node)
    silent = replace(second, attempt=2, signals=SignalTable(nodes=rows))
    assert reading(silent, vm(2)) is reads


@pytest.mark.parametrize(
    ("gap", "reads"),
    [
        (None, BAD),
        (timedelta(minutes=30), BAD),
        (timedelta(minutes=90) - SECOND, BAD),
        (timedelta(minutes=90) + SECOND, None),
        (timedelta(days=30), None),
    ],
)
def test_silence_counts_against_the_longest_gap_of_the_job_itself(gap, reads):
    """It has been still for three hours: twice its longest gap, or not yet."""
    still = {"test-vm": ago(hours=3)}
    assert reading(heard(beats=still, gap=gap)) == reads


def test_no_gap_makes_a_job_immune():
    """However long it says that its gaps are: a silence of a day is one, by the default ceiling."""
    almost, full = ({"test-vm": at} for at in (ago(days=1) + SECOND, ago(days=1)))
    old = vm(created=ago(days=9), started=ago(days=9))
    verdicts = [reading(heard(beats=beats, gap=timedelta(days=30)), old) for beats in (almost, full)]
    assert verdicts == [None, BAD]


def test_the_ceiling_of_the_policy_bounds_the_gap_as_well():
    """Ops may allow less than the default."""
    policy = Policy(version="test", ceilings={"stall": {"after": timedelta(hours=3)}})
    silent = heard(beats={"test-vm": ago(hours=3)}, gap=timedelta(hours=20))
    assert reading(silent, brief_=brief(policy)) == BAD
    assert reading(silent) is None


def test_a_finding_names_the_gap_that_it_counted_against():
    """Its owner sees both."""
    found = verdict(heard(beats={"test-vm": ago(hours=4)}, gap=timedelta(minutes=100)))
    assert found is not None
    assert found.evidence["longest silence so far"] == "1 h 40 min"
    assert found.evidence["silence limit"] == "3 h 20 min"
    assert found.due == ago(minutes=40)


def test_silence_that_we_caused_does_not_count():
    """After an outage of our own every job gets the full time again."""
    silent = heard(beats={"test-vm": ago(hours=9)})
    assert reading(silent, brief_=brief(steady=LONG_AGO)) == BAD
    assert reading(silent, brief_=brief(steady=JUST_NOW)) is None


def test_after_an_outage_of_ours_an_open_case_is_not_called_resolved():
    """Its silence goes on, as far as anybody knows; of one that moved again the case is closed."""
    opened = brief(steady=JUST_NOW, cases=case("stall", "test-vm"))
    assert reading(heard(beats={"test-vm": ago(hours=9)}), brief_=opened) == UNKNOWN
    assert reading(heard(beats={"test-vm": JUST_NOW}), brief_=opened) is None


@pytest.mark.parametrize(
    ("facts", "machines", "reads"),
    [
        ({"state": AttemptState.PLACING}, (vm(),), UNKNOWN),
        ({"state": AttemptState.RUNNING, "instances": {"test-vm": "2002"}}, (vm(), vm(id="2002")), UNKNOWN),
        ({"state": AttemptState.PLACING}, (vm(status=Status.STOPPING),), None),
        ({"state": AttemptState.STOPPED}, (vm(),), None),
        ({"state": AttemptState.PLACING, "status_code": "0", "ended": LONG_AGO}, (vm(),), None),
    ],
)
def test_an_open_case_is_not_called_resolved_while_its_vm_runs_beside_its_successor(facts, machines, reads):
    """A job that hangs may be moved: it hangs until the old VM is gone."""
    record = on_record(**{"instances": {}, "attempt": 2, **facts})
    warned = case("stall", "test-vm", subject=Subject(key="test-vm", job="test-vm", targets=(target(vm()),)))
    assert reading(record, *machines, brief_=brief(cases=warned)) == reads


@pytest.mark.parametrize(
    ("facts", "reads"),
    [
        ({"state": AttemptState.RUNNING}, BAD),
        ({"state": None, "attempt": 0}, BAD),
        ({"state": AttemptState.PLACING}, None),
        ({"state": AttemptState.STOPPED}, None),
        ({"status_code": "0", "ended": LONG_AGO}, None),
        ({"instances": {}}, None),
        ({"instances": {"test-vm": "2002"}}, None),
    ],
)
def test_only_a_job_that_runs_can_hang(facts, reads):
    """What is over, or is just being brought back, is no business of this rule."""
    assert reading(on_record(signs=signs(beats={"test-vm": LONG_AGO}), **facts)) == reads


def test_a_stopped_vm_does_not_hang():
    """Nor does one on its way out."""
    for status in (Status.TERMINATED, Status.STOPPING, Status.SUSPENDED):
        assert reading(heard(beats={"test-vm": LONG_AGO}), vm(status=status)) is None


def gang(**given):
    """A gang of two, of which this was heard."""
    return on_record(instances=NODES, signs=signs(**given))


@pytest.mark.parametrize(
    ("given", "reads"),
    [
        ({"beats": {"gang-1": JUST_NOW, "gang-2": LONG_AGO}}, None),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": JUST_NOW}}, None),
        ({"beats": {"gang-1": JUST_NOW, "gang-2": JUST_NOW}}, None),
        ({"beats": dict.fromkeys(NODES, NOW), "progress": {"gang-1": JUST_NOW, "gang-2": BEGAN}}, None),
        ({"beats": dict.fromkeys(NODES, NOW), "progress": {"gang-1": LONG_AGO, "gang-2": BEGAN}}, BAD),
        ({"beats": {"gang-1": JUST_NOW}}, None),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": BEGAN}}, BAD),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": LONG_AGO}, "lines": {"2": JUST_NOW}}, None),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": LONG_AGO}, "problem": "no answer"}, UNKNOWN),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": LONG_AGO}, "cpus": {"1": 0.1, "2": 100.0}}, UNKNOWN),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": LONG_AGO}}, BAD),
        ({"beats": {"gang-1": LONG_AGO, "gang-2": LONG_AGO}, "output": JUST_NOW}, None),
        ({"beats": {"gang-1": JUST_NOW, "gang-9": LONG_AGO}}, None),
    ],
)
def test_the_table_of_gangs(given, reads):
    """It gets on as long as any node does: often only the first one prints."""
    assert reading(gang(**given), *GANG) == reads


def test_a_gang_begins_with_its_last_node():
    """One node was started later than the other: until then nobody could work."""
    silent = gang(beats={"gang-1": ago(days=1)})
    later = [vm(id="2", name="gang-2", created=at, started=at) for at in (LONG_AGO, JUST_NOW)]
    assert [reading(silent, GANG[0], node) for node in later] == [BAD, None]


def test_the_whole_gang_is_the_target():
    """A gang lives and dies as one."""
    found = verdict(gang(beats={"gang-1": ago(hours=4), "gang-2": ago(hours=5)}), *GANG)
    assert found is not None
    assert found.subject.key == "test-vm"
    assert [one.id for one in found.subject.targets] == ["1", "2"]
    assert found.since == ago(hours=4)


def test_a_gang_that_has_lost_a_node_is_recoverys():
    """On a whole list the other node is gone; on a partial one nobody can tell."""
    silent = gang(beats={"gang-1": LONG_AGO})
    assert reading(silent, GANG[0]) is None
    assert reading(silent, GANG[0], unreachable=("us-east1-b",)) == UNKNOWN
    assert reading(silent, *GANG, unreachable=("us-east1-b",)) == BAD


def test_one_node_that_is_kept_keeps_its_gang():
    """The remedy would be for all of them."""
    kept = vm(id="2", name="gang-2", keep="2026-12-31")
    record = gang(beats={"gang-1": LONG_AGO})
    spared, other = verdict(record, GANG[0], kept), verdict(record, *GANG)
    assert spared is not None
    assert other is not None
    assert (bool(spared.exempt), bool(other.exempt)) == (True, False)


def test_a_job_or_its_team_may_be_judged_sooner():
    """A stricter limit of the job's own, and one of its owner's team."""
    hour = {"stall": {"after": timedelta(hours=1)}}
    silent = signs(beats={"test-vm": ago(hours=1)})
    mine = on_record(signs=silent, file=JobFile(rules=hour))
    teams = {"ann": Team(owners=("ann@*",), rules=hour)}
    policy = Policy(version="test", teams=teams)
    assert reading(on_record(signs=silent)) is None
    assert reading(mine) == BAD
    assert reading(on_record(signs=silent), brief_=brief(policy)) == BAD
    assert reading(on_record(signs=silent, owner="ben@x.org"), brief_=brief(policy)) is None


def test_a_case_stays_as_it_is_while_the_record_cannot_be_read():
    """Nobody knows whether the job moves; without a case the rule of orphans says enough."""
    broken = on_record(problem="no answer")
    subject = Subject(key="test-vm", job="test-vm")
    found = verdict(broken, brief_=brief(cases=case("stall", "test-vm", subject=subject)))
    assert found is not None
    assert found.reading is UNKNOWN
    assert verdict(broken) is None


@pytest.mark.parametrize(
    ("given", "asks"),
    [
        ({"beats": {"test-vm": LONG_AGO}}, True),
        ({"beats": {"test-vm": JUST_NOW}}, False),
        ({"output": JUST_NOW}, False),
        ({}, True),
    ],
)
def test_more_is_asked_only_of_jobs_that_look_silent(given, asks):
    """Log lines and CPUs cost money."""
    assert quiet(heard(**given), (vm(),), Policy(version="test"), TICK) is asks


def test_a_wrong_clock_that_is_behind_judges_nothing():
    """Signs from the future are signs of life."""
    assert reading(heard(beats={"test-vm": NOW + timedelta(hours=5)})) is None
    assert reading(heard(), vm(created=NOW + SECOND, started=NOW + SECOND)) is None


def test_a_vm_that_waits_for_room_is_not_silent():
    """A Flex-start VM may be PENDING for hours; once it runs its silence counts from its start."""
    record = heard(beats={"test-vm": LONG_AGO}, cpus={"1001": 0.1})
    assert reading(record, vm()) is BAD
    assert reading(record, vm(status=Status.PENDING)) is None
    assert reading(record, vm(started=NOW - SECOND)) is None
