"""The table of signals: its rows, whose attempt each is of, and what contradicts what."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.signals.contradiction import GOES_ON, contradiction
from spotwarden.governance.signals.heard import Heard
from spotwarden.governance.signals.heartbeats import attempt_of, with_heard
from spotwarden.governance.signals.motion import GAPS, gap_in, last_progress, longest_silence, moves
from spotwarden.governance.signals.records import attempt_by_time
from spotwarden.governance.signals.shown import rows
from spotwarden.governance.signals.since import dated, first_seen
from spotwarden.governance.signals.table import (
    Coverage,
    NodeSignals,
    Signal,
    SignalKind,
    SignalSource,
    SignalTable,
    newest,
    signals,
    unread,
)
from spotwarden.model.attempt import AttemptState
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Finding, Judged, Reading, Subject
from spotwarden.model.heartbeat import Beat
from spotwarden.model.policy import Policy
from tests.governance.reap.reapable import SECOND, ago, brief, case, load, on_record, progress, signs, vm
from tests.recovery.facts import NOW

POLICY = Policy(version="test")
HOUR = timedelta(hours=1)
ALIVE, PROGRESS = SignalKind.ALIVE, SignalKind.PROGRESS
BEAT = Signal(kind=ALIVE, source=SignalSource.HEARTBEAT, at=ago(minutes=1))


def row(*signals, node="test-vm", attempt=1, instance_id="1001"):
    """The row of a node in an attempt."""
    return NodeSignals(node=node, attempt=attempt, instance_id=instance_id, signals=signals)


def table(*given):
    """A table of these rows."""
    return SignalTable(nodes=given)


# --- rows ---


def test_a_newer_signal_of_a_source_takes_the_place_of_the_older_one():
    """Others of the same row stay."""
    later = replace(BEAT, at=NOW)
    known = table(row(BEAT, progress(SignalSource.STEP, ago(hours=1)))).with_row(row(later))
    assert [(one.source, one.at) for one in known.nodes[0].signals] == [
        (SignalSource.STEP, ago(hours=1)),
        (SignalSource.HEARTBEAT, NOW),
    ]


def test_a_heartbeat_as_sign_of_life_is_not_replaced_by_one_as_progress():
    """They are of one source, and of two kinds."""
    known = table(row(BEAT)).with_row(row(progress(SignalSource.HEARTBEAT, ago(hours=1))))
    assert {one.kind for one in known.nodes[0].signals} == {ALIVE, PROGRESS}


def test_attempts_of_one_node_have_a_row_each():
    """What one has done is not the other's."""
    known = table(row(BEAT)).with_row(row(replace(BEAT, at=NOW), attempt=2))
    assert newest(known.of(1), ALIVE) == BEAT.at
    assert newest(known.of(2), ALIVE) == NOW
    assert known.of(3) == ()


def test_what_one_heartbeat_says_leaves_those_of_other_nodes_as_they_are():
    """A gang has as many as nodes, and one is read at a time."""
    known = on_record(instances={"a": "1", "b": "2"}, signs=signs(beats={"a": NOW, "b": ago(minutes=1)}))
    beat = Beat(instance_id="9", attempt=4)
    heard = with_heard(known, "a", Heard(came=NOW, progress=NOW, beat=beat))
    alive = {(one.node, one.attempt): newest((one,), ALIVE) for one in heard.signals.nodes}
    assert alive["b", 1] == ago(minutes=1)
    assert alive["a", 4] == NOW
    assert alive.get(("a", 1)) is None


def test_the_longest_gap_only_grows():
    """A shorter one says nothing new, and none at all neither."""
    known = SignalTable().with_gap(HOUR)
    assert known.with_gap(None).with_gap(HOUR - SECOND).longest_gap == HOUR
    assert known.with_gap(HOUR + SECOND).longest_gap == HOUR + SECOND


def test_what_could_not_be_read_is_said():
    """And nothing, where everything was."""
    bad = Signal(kind=SignalKind.LOAD, source=SignalSource.CPU, coverage=Coverage.UNREAD, why="no answer")
    assert unread((row(BEAT), row(bad))) == "no answer"
    assert not unread((row(BEAT),))


def test_alive_is_no_progress():
    """However fresh."""
    alive = on_record(signals=table(row(BEAT)))
    assert last_progress(alive) is None
    assert not moves(alive, after=HOUR, most=HOUR, now=NOW)


@pytest.mark.parametrize(("since", "goes_on"), [(HOUR - SECOND, True), (HOUR, False)])
def test_a_job_moves_until_its_silence_is_full(since, goes_on):
    """By what its program says; log lines may be of its VM's own services."""
    said = on_record(signals=table(row(progress(SignalSource.REPORTED, NOW - since))))
    logged = on_record(signals=table(row(progress(SignalSource.LOG_LINE, NOW - since))))
    assert moves(said, after=HOUR, most=HOUR, now=NOW) is goes_on
    assert not moves(logged, after=HOUR, most=HOUR, now=NOW)


@pytest.mark.parametrize(
    ("gap", "limit"),
    [(None, HOUR), (HOUR / 4, HOUR), (HOUR, GAPS * HOUR), (10 * HOUR, 3 * HOUR)],
)
def test_how_long_a_job_may_be_silent(gap, limit):
    """At least the limit, twice its own longest gap, and never more than anybody may have."""
    record = on_record(signals=SignalTable(longest_gap=gap))
    assert longest_silence(record, HOUR, 3 * HOUR) == limit


def test_a_gap_is_between_two_moments_that_follow_each_other():
    """In whatever order they are given."""
    assert gap_in([ago(hours=1), ago(hours=5), ago(hours=2)]) == 3 * HOUR
    assert gap_in([NOW]) is None
    assert gap_in([]) is None


# --- of which attempt a heartbeat is ---


@pytest.mark.parametrize(
    ("beat", "came", "attempt"),
    [
        (Beat(), ago(minutes=59), 2),
        (Beat(), ago(minutes=60), 2),
        (Beat(), ago(minutes=61), 0),
        (Beat(attempt=2), ago(minutes=61), 2),
        (Beat(attempt=1), ago(minutes=1), 1),
        (Beat(attempt=7), ago(minutes=1), 7),
        (Beat(instance_id="1001"), ago(minutes=1), 2),
        (Beat(instance_id="1001"), ago(minutes=61), 0),
        (Beat(instance_id="1001", attempt=2), ago(minutes=61), 2),
        (Beat(instance_id="999"), ago(minutes=1), 0),
        (Beat(instance_id="999", attempt=1), ago(minutes=1), 1),
        (Beat(instance_id="999", attempt=2), ago(minutes=1), 0),
    ],
)
def test_a_heartbeat_is_of_the_attempt_whose_vm_wrote_it(beat, came, attempt):
    """By the VM that it names, by the attempt, else by when it came: attempt 2 was claimed an hour ago."""
    record = on_record(attempt=2, claimed=ago(hours=1))
    assert attempt_of(record, "test-vm", Heard(came=came, progress=came, beat=beat)) == attempt


@pytest.mark.parametrize(("said", "node", "named"), [
    ("1001", "test-vm", True), ("999", "test-vm", False), ("", "test-vm", False), (None, "test-vm", False),
    ("1001", "other", False), ("", "other", False),
])  # fmt: skip
def test_a_step_is_named_by_a_heartbeat_that_names_the_vms_own_id(said, node, named):
    """The id that the job's record has of this node, and nothing that only looks like one."""
    beat = Beat(instance_id=said, step=1.0) if said is not None else Beat(step=1.0)
    record = with_heard(on_record(), node, Heard(came=NOW, progress=NOW, beat=beat))
    [(_, step)] = signals(record.signals.nodes, SignalKind.PROGRESS, SignalSource.STEP)
    assert step.named is named


def test_a_job_without_a_ledger_has_one_attempt():
    """A first launch by hand that nobody has written down yet."""
    assert attempt_by_time(on_record(attempt=0, claimed=None), ago(days=9)) == 1


# --- what contradicts an end ---

END = ago(hours=1)
LATE = END + GOES_ON


def ended(*signals, **facts):
    """A job that is said to have ended an hour ago, and what was seen of its VM."""
    facts = {"status_code": "0", "ended": END, **facts}
    return contradiction(on_record(signals=table(row(*signals)), **facts), (vm(),), POLICY)


@pytest.mark.parametrize(
    ("signal", "contradicts"),
    [
        (replace(BEAT, at=LATE), False),
        (replace(BEAT, at=LATE + SECOND), True),
        (progress(SignalSource.OUTPUT, LATE), False),
        (progress(SignalSource.OUTPUT, LATE + SECOND), True),
        (progress(SignalSource.STEP, LATE + SECOND), True),
        (progress(SignalSource.LOG_LINE, NOW), False),
        (load(SignalSource.CPU, 90.0, NOW - LATE), True),
        (load(SignalSource.CPU, 90.0, NOW - LATE + SECOND), False),
        (load(SignalSource.CPU, POLICY.stall.cpu_at_rest, NOW - LATE), True),
        (load(SignalSource.CPU, POLICY.stall.cpu_at_rest - 0.1, NOW - LATE), False),
        (load(SignalSource.GPU, POLICY.idle.threshold, NOW - LATE), True),
        (load(SignalSource.GPU, POLICY.idle.threshold - 0.1, NOW - LATE), False),
    ],
)
def test_the_table_of_contradictions(signal, contradicts):
    """A sign of the present attempt from well after its end; a processor only if all of its time is."""
    assert bool(ended(signal)) is contradicts


def test_another_attempts_signs_contradict_nothing():
    """A VM that was replaced may go on for a while."""
    other = table(row(replace(BEAT, at=NOW), attempt=1))
    record = on_record(attempt=2, status_code="0", ended=END, signals=other)
    assert not contradiction(record, (vm(),), POLICY)
    assert contradiction(replace(record, attempt=1), (vm(),), POLICY)


@pytest.mark.parametrize(
    ("state", "contradicts"),
    [(AttemptState.ENDED, True), (AttemptState.STOPPED, False), (AttemptState.GAVE_UP, False)],
)
def test_only_an_end_by_itself_can_be_contradicted(state, contradicts):
    """Who stops a job expects that its VMs were still at work."""
    facts = {"status_code": None, "ended": None, "state": state, "updated": END}
    assert bool(ended(replace(BEAT, at=NOW), **facts)) is contradicts


def test_an_open_job_has_no_end_to_contradict():
    """It goes on, as it should."""
    assert not ended(replace(BEAT, at=NOW), status_code=None, ended=None)


# --- since when ---


def found(since=None, reading=Reading.BAD):
    """A finding of a rule."""
    return Finding(rule="orphan", subject=Subject(key="1001"), reason="r", since=since, reading=reading)


@pytest.mark.parametrize(
    ("since", "steady", "holds"),
    [
        (ago(hours=5), ago(hours=9), ago(hours=5)),
        (ago(hours=9), ago(hours=5), ago(hours=5)),
        (None, ago(hours=9), NOW),
    ],
)
def test_every_finding_has_a_since_and_none_from_before_our_sweeps(since, steady, holds):
    """What nobody has watched may have been otherwise."""
    [made] = dated(Judged(rules=("orphan",), findings=(found(since),)), brief(steady=steady)).findings
    assert made.since == holds


@pytest.mark.parametrize(
    ("state", "steady", "holds"),
    [
        (CaseState.WARNED, ago(hours=9), ago(hours=1)),
        (CaseState.WARNED, ago(minutes=5), ago(minutes=5)),
        (CaseState.UNKNOWN, ago(hours=9), NOW),
    ],
)
def test_what_has_no_date_counts_from_when_it_was_first_seen(state, steady, holds):
    """Without a gap between our sweeps; what was not known then was not seen."""
    cases = case("orphan", "1001", state=state)
    assert first_seen(brief(cases=cases, steady=steady), "orphan", "1001") == holds


def test_what_nobody_knows_has_no_since():
    """Nothing follows from it."""
    made = dated(Judged(rules=("orphan",), findings=(found(reading=Reading.UNKNOWN),)), brief())
    assert made.findings[0].since is None


# --- as people read it ---


def test_the_newest_attempt_stands_first_and_the_whole_job_last():
    """By attempt, then by node."""
    given = table(
        row(BEAT, attempt=1),
        row(progress(SignalSource.OUTPUT, NOW), node="", attempt=2),
        row(BEAT, node="b", attempt=2),
        row(BEAT, node="a", attempt=2),
    )
    order = [(one.attempt, one.node) for one in rows(given) if one.at is not None]
    assert order == [(2, "a"), (2, "b"), (2, ""), (1, "test-vm")]


def test_what_a_present_node_never_gave_is_said():
    """It is alive, and has never told of progress; of an earlier attempt nobody expects any."""
    shown = rows(table(row(BEAT, attempt=2), row(BEAT, attempt=1)))
    assert [(one.attempt, one.kind, one.at) for one in shown if one.at is None] == [(2, PROGRESS, None)]


def test_a_load_is_shown_in_percent_and_a_step_as_it_is():
    """With the time that it covers."""
    step = replace(progress(SignalSource.STEP, NOW), value=1200.0)
    shown = {one.source: one for one in rows(table(row(BEAT, load(SignalSource.GPU, 97.25), step)))}
    assert shown[SignalSource.GPU].value == "97.2%"
    assert shown[SignalSource.GPU].since == ago(hours=1)
    assert shown[SignalSource.STEP].value == "1200"


def test_a_builder_of_tests_says_the_same_as_a_table():
    """What others' tests are made of."""
    record = on_record(signs=signs(beats={"test-vm": NOW}, lines={"1001": ago(hours=2)}))
    assert newest(record.signals.of(1), ALIVE) == NOW
    assert last_progress(record, SignalSource.LOG_LINE) == ago(hours=2)
