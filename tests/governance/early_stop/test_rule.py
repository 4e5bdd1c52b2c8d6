"""Which trainings are to end by their own measure, and which are left to go on."""

from datetime import timedelta

import pytest

from spotwarden.governance.early_stop.rule import judge, wanted
from spotwarden.governance.signals.training import Aim, Track, Training
from spotwarden.model.attempt import AttemptState
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Reading, Subject
from spotwarden.model.governance import Remedy
from spotwarden.model.heartbeat import Beat
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy
from spotwarden.model.rule_limits import EarlyStopLimits, Goal
from tests.governance.reap.reapable import SECOND, brief, case, on_record, seen, vm
from tests.recovery.facts import NOW

PLAIN = Policy(version="test")
NODES = {"gang-1": "1", "gang-2": "2"}
GANG = tuple(vm(id=one, name=node) for node, one in NODES.items())
VAL = {"metric": "val", "patience": 100.0}


def asking(**limits):
    """A policy that asks for these for everybody."""
    return Policy(version="test", early_stop=EarlyStopLimits(**limits))


def measured(step=120.0, **metrics):
    """The job of the VM 1001, whose newest heartbeat says this."""
    return on_record(training=Training(beats={"test-vm": Beat(step=step, metrics=metrics)}))


def gone(step, best, best_step, *, limits=VAL, **facts):
    """The same job, whose metric has gone like this."""
    aim = Aim(
        metric=limits["metric"], goal=limits.get("goal", Goal.MIN), min_delta=limits.get("min_delta", 0.0)
    )
    track = Track(step=step, best=best, best_step=best_step)
    beats = {"test-vm": Beat(step=step, metrics={"val": best or 0.0})}
    return on_record(training=Training(beats=beats, aim=aim, tracks={"test-vm": track}), **facts)


def verdict(record, *machines, brief_=None, policy=None, **facts):
    """The one finding about a job, None for none."""
    found = list(judge(seen(record, *machines, **facts), brief_ or brief(policy or PLAIN)))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("limits", "metrics", "ends"),
    [
        ({}, {"loss": "nan"}, False),
        ({"unreal": True}, {"loss": "nan"}, True),
        ({"unreal": True}, {"loss": "inf"}, True),
        ({"unreal": True}, {"loss": "-inf"}, True),
        ({"unreal": True}, {"loss": 1e308}, False),
        ({"unreal": True}, {"lr": 0.1, "loss": "nan"}, True),
        ({"unreal": True}, {}, False),
        ({"over": {"loss": 10.0}}, {"loss": 10.0}, False),
        ({"over": {"loss": 10.0}}, {"loss": 10.000001}, True),
        ({"over": {"loss": 10.0}}, {"loss": "inf"}, True),
        ({"over": {"loss": 10.0}}, {"loss": "nan"}, False),
        ({"over": {"loss": 10.0}}, {"other": 11.0}, False),
        ({"under": {"acc": 0.1}}, {"acc": 0.1}, False),
        ({"under": {"acc": 0.1}}, {"acc": 0.0999}, True),
        ({"under": {"acc": 0.1}}, {"acc": "-inf"}, True),
        ({"under": {"acc": -5.0}}, {"acc": -5.0}, False),
        ({"under": {"acc": -5.0}}, {"acc": -5.1}, True),
    ],
)
def test_the_table_of_values(limits, metrics, ends):
    """What is not a number ends a job where that is asked for, and so does a value beyond its bound."""
    found = verdict(measured(**metrics), policy=asking(**limits))
    assert bool(found and found.ripe) is ends


@pytest.mark.parametrize(("step", "ends"), [(99.0, False), (100.0, True), (None, False)])
def test_bounds_count_from_the_warm_up_on(step, ends):
    """The first losses are wild; a job that names no step is never known to be warm."""
    limits = asking(over={"loss": 10.0}, warmup=100.0)
    assert bool(verdict(measured(step=step, loss=11.0), policy=limits)) is ends


def test_what_is_not_a_number_ends_a_job_at_any_step():
    """No later step makes it one again."""
    assert verdict(measured(step=1.0, loss="nan"), policy=asking(unreal=True, warmup=100.0))


@pytest.mark.parametrize(
    ("limits", "step", "best_step", "ends"),
    [
        ({}, 199.0, 100.0, False),
        ({}, 200.0, 100.0, True),
        ({}, 50.0, 100.0, False),
        ({"warmup": 150.0}, 249.0, 100.0, False),
        ({"warmup": 150.0}, 250.0, 100.0, True),
    ],
)
def test_patience_ends_after_its_last_step(limits, step, best_step, ends):
    """Steps count from the best value on, and from the warm-up on; a resumed one may stand before it."""
    found = verdict(gone(step, 0.5, best_step), policy=asking(**VAL, **limits))
    assert bool(found and found.ripe) is ends


def test_the_reason_says_what_has_not_got_better_and_since_when():
    """A person reads one sentence."""
    found = verdict(gone(12_300.0, 0.5, 12_200.0), policy=asking(**VAL, min_delta=0.0))
    assert found.reason == (
        "val of test-vm hasn't become lower for 100 steps: its best, 0.5, was at step 12,200,"
        " and it is now at step 12,300"
    )
    assert found.subject == Subject(
        key="test-vm", job="test-vm", owner="ann@x.org", targets=found.subject.targets
    )
    assert found.limits.remedy is Remedy.STOP
    assert found.evidence["best val on test-vm"] == "0.5 at step 12,200"


def test_a_metric_that_was_never_a_number_is_not_better_either():
    """Its steps count from the first."""
    found = verdict(gone(100.0, None, 0.0), policy=asking(**VAL))
    assert "has never been a valid number" in found.reason


def test_a_course_that_was_read_for_another_aim_says_nothing():
    """A back-test may ask for what nobody looked at on that day."""
    record = gone(500.0, 0.5, 100.0)
    assert verdict(record, policy=asking(**VAL))
    assert verdict(record, policy=asking(**VAL, goal=Goal.MAX)) is None
    assert verdict(record, policy=asking(**VAL, min_delta=0.1)) is None


def test_every_node_that_measures_must_have_waited():
    """One that gets better keeps its gang."""
    tracks = {
        node: Track(step=300.0, best=0.5, best_step=best)
        for node, best in (("gang-1", 1.0), ("gang-2", 201.0))
    }
    beats = {node: Beat(step=300.0, metrics={"val": 0.5}) for node in NODES}
    training = Training(beats=beats, aim=Aim(metric="val"), tracks=tracks)
    gang = on_record(instances=NODES, training=training)
    assert verdict(gang, *GANG, policy=asking(**VAL)) is None
    both = verdict(gang, *GANG, policy=asking(metric="val", patience=99.0))
    assert "on gang-2" in both.reason
    assert [one.name for one in both.subject.targets] == ["gang-1", "gang-2"]


def test_one_node_without_a_number_ends_its_gang():
    """The others cannot go on without it."""
    beats = {"gang-1": Beat(metrics={"loss": 0.1}), "gang-2": Beat(metrics={"loss": "nan"})}
    gang = on_record(instances=NODES, training=Training(beats=beats))
    found = verdict(gang, *GANG, policy=asking(unreal=True))
    assert found.reason.startswith("loss of test-vm on gang-2 is nan")
    assert verdict(gang, GANG[0], policy=asking(unreal=True)) is None
    hidden = verdict(gang, GANG[1], policy=asking(unreal=True), unreachable=("zones/x",))
    assert (hidden.reading, hidden.ripe) == (Reading.UNKNOWN, False)


@pytest.mark.parametrize(
    "facts",
    [
        {"status_code": "0"},
        {"state": AttemptState.STOPPED},
        {"state": AttemptState.PLACING},
        {"problem": "broken"},
    ],
)
def test_only_a_job_that_runs_is_judged(facts):
    """What is over, or on its way, or cannot be read is left alone."""
    training = measured(loss="nan").training
    assert verdict(on_record(training=training, **facts), policy=asking(unreal=True)) is None
    stopping = vm(status=Status.STOPPING)
    assert verdict(on_record(training=training), stopping, policy=asking(unreal=True)) is None


def test_the_job_switches_it_on_for_itself():
    """What a metric means only the job knows: its word counts, against the policy's too."""
    file = JobFile(rules={"early_stop": {"unreal": True}})
    mine = measured(loss="nan")
    assert verdict(on_record(training=mine.training, file=file)).ripe
    off = JobFile(rules={"early_stop": {"unreal": False}})
    assert verdict(on_record(training=mine.training, file=off), policy=asking(unreal=True)) is None


def test_a_job_has_no_say_in_the_mode_and_may_not_loosen_the_remedy():
    """As with every rule, without a ceiling it can only be stricter."""
    file = JobFile(rules={"early_stop": {"unreal": True, "remedy": "none", "grace": "1d"}})
    found = verdict(on_record(training=measured(loss="nan").training, file=file))
    assert (found.limits.remedy, found.limits.grace) == (Remedy.STOP, timedelta(minutes=5))


def test_a_label_keeps_it():
    """One node that is to be kept keeps its whole gang."""
    found = verdict(measured(loss="nan"), vm(keep="2099-01-01"), policy=asking(unreal=True))
    assert "keeps it until 2099-01-01" in found.exempt


@pytest.mark.parametrize(("age", "asked"), [(timedelta(hours=2) - SECOND, False), (timedelta(hours=2), True)])
def test_a_job_that_measures_nothing_is_asked_for_it_once_it_has_had_time(age, asked):
    """A slip in a metric's name would else be found out by nobody; nothing is done."""
    young = vm(created=NOW - age, started=NOW - age)
    silent = verdict(on_record(), young, policy=asking(unreal=True))
    nameless = verdict(measured(loss=1.0), young, policy=asking(**VAL))
    for found in (silent, nameless):
        assert bool(found) is asked
        assert not asked or (found.reading, found.ripe) == (Reading.UNKNOWN, False)


@pytest.mark.parametrize("said", [{"metric": "val"}, {"patience": 100}])
def test_a_metric_without_patience_or_the_reverse_is_told_at_once(said):
    """The one holds nothing without the other, and its owner thinks that it does."""
    file = JobFile(rules={"early_stop": said})
    found = verdict(on_record(training=measured(val=1.0).training, file=file))
    assert (found.reading, found.ripe) == (Reading.UNKNOWN, False)
    assert "patience" in found.reason
    both = JobFile(rules={"early_stop": VAL})
    young = vm(created=NOW, started=NOW)
    assert verdict(on_record(training=measured(val=1.0).training, file=both), young) is None


def test_metrics_that_cannot_be_read_leave_an_open_case_as_it_is():
    """And open none."""
    record = on_record(training=Training(problem="no answer"))
    limits = asking(unreal=True)
    assert verdict(record, policy=limits) is None
    opened = brief(limits, cases=case("early_stop", "test-vm"))
    assert verdict(record, brief_=opened).reading is Reading.UNKNOWN


@pytest.mark.parametrize(
    ("state", "found"), [(CaseState.WARNED, False), (CaseState.DUE, True), (CaseState.ACTED, True)]
)
def test_a_job_that_was_closed_for_it_is_stopped_to_the_end(state, found):
    """The ledger says that it is over before its VMs are stopped: a stop that failed is tried again."""
    closed = on_record(state=AttemptState.STOPPED)
    opened = brief(
        asking(unreal=True), cases=case("early_stop", "test-vm", state=state, reason="loss is nan")
    )
    again = verdict(closed, brief_=opened)
    assert bool(again) is found
    assert not found or (again.ripe, again.reason) == (True, "loss is nan")


def test_nothing_is_read_where_nothing_hangs_on_it():
    """Metrics cost a read for each job and look."""
    assert wanted(on_record(), [vm()], PLAIN) is None
    assert wanted(on_record(), [vm()], asking(unreal=True)) == Aim()
    assert wanted(on_record(), [vm()], asking(**VAL)) == Aim(metric="val")
    assert wanted(on_record(), [], asking(unreal=True)) is None
    assert wanted(on_record(status_code="0"), [vm()], asking(unreal=True)) is None
    assert wanted(on_record(problem="broken"), [vm()], asking(unreal=True)) is None


@pytest.mark.parametrize(
    ("record", "limits", "title"),
    [
        (measured(loss="nan"), {"unreal": True}, "reports an invalid loss"),
        (measured(loss=11.0), {"over": {"loss": 10.0}}, "reports loss over its limit"),
        (measured(acc=0.0), {"under": {"acc": 0.1}}, "reports acc under its limit"),
        (gone(12_300.0, 0.5, 12_200.0), VAL, "trains without improving val"),
    ],
)
def test_a_finding_says_which_condition_was_met(record, limits, title):
    """A loss over its limit may be one that improves."""
    assert verdict(record, policy=asking(**limits)).title == title
