"""The truth table of recovery: every case, every row, and what parts one row from the next."""

from datetime import timedelta
from itertools import pairwise, product

import pytest
from msgspec.structs import replace

from spotwarden.model.instance import Status
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.marker import MarkerBody
from spotwarden.recovery.observed.fates import Fate, Now
from spotwarden.recovery.observed.truth_table import TABLE, LossVerdict, fits, judge

W, L, R = LossVerdict.WAIT, LossVerdict.LEAVE, LossVerdict.RECOVER
CASES = list(product((True, False), Fate, Now))
ALIVE = {Now.DOOMED, Now.FRESH, Now.SETTLED}
# What nobody can know at once: a doomed instance without the marker that says so, and the silence of a log
# that did not answer.
UNREAL = [(marker, fate, now) for marker, fate, now in CASES if now is Now.DOOMED and not marker]
UNREAL += [(marker, Fate.SILENT, Now.HIDDEN) for marker in (True, False)]
REAL = [case for case in CASES if case not in UNREAL]
LOST = {
    Fate.PREEMPTED: R,
    Fate.HOST_ERROR: R,
    Fate.STOPPED: LossVerdict.CLOSE,
    Fate.EXPIRED: R,
    Fate.UNSERVED: R,
    Fate.UNTOLD: W,
    Fate.SILENT: R,
}
PRESENT = {
    (True, Now.HIDDEN): W,
    (False, Now.HIDDEN): W,
    (True, Now.GOING): W,
    (False, Now.GOING): W,
    (True, Now.DOOMED): LossVerdict.REPLACE,
    (True, Now.FRESH): W,
    (False, Now.FRESH): L,
    (True, Now.SETTLED): LossVerdict.CLEAR,
    (False, Now.SETTLED): L,
}


def words(case):
    """The case as the name of a test."""
    marker, fate, now = case
    return f"{'marker' if marker else 'no marker'}, {fate.name}, {now.name}"


def row_of(case):
    """The row that decides a case."""
    marker, fate, now = case
    return next(row for row in TABLE if fits(row, marker=marker, fate=fate, now=now))


def judged(node, limits, tick, case):
    """What is said of a node in this case; only a Flex-start VM waits, or has a limit that nobody chose."""
    _, fate, now = case
    flexible, began = fate in {Fate.EXPIRED, Fate.UNSERVED}, fate is not Fate.UNSERVED
    return judge(node, limits, tick, early=now is Now.DOOMED, flexible=flexible, began=began)


def apart(one, other):
    """How many of the three facts differ."""
    return sum(mine != theirs for mine, theirs in zip(one, other, strict=True))


@pytest.fixture
def limits():
    """A log that is soon believed: so every case of the table can happen."""
    return RecoveryLimits(log_delay=timedelta(minutes=2))


@pytest.fixture
def facts_of(some, limits, tick):
    """A node that is in one case of the table."""
    ops = {
        Fate.PREEMPTED: "compute.instances.preempted",
        Fate.HOST_ERROR: "compute.instances.hostError",
        Fate.STOPPED: "delete",
        Fate.EXPIRED: "delete",
        Fate.UNSERVED: "delete",
    }
    status = {Now.GOING: Status.STOPPING, Now.KEPT: Status.TERMINATED}
    # Long enough ago for the log and for settling, and not too long to be an announcement.
    written = tick.now - limits.settle - timedelta(minutes=1)

    def build(case):
        marker, fate, now = case
        hides = now is Now.HIDDEN or (fate is Fate.UNTOLD and now is not Now.GONE)
        when = tick.now if (fate is Fate.UNTOLD and now is Now.GONE) else written
        # Since its start the log has had time, too, and settling takes longer.
        started = tick.now - limits.log_delay if now is Now.FRESH else written
        there = some.instance(
            status=status.get(now, Status.RUNNING), started=started, notice=now is Now.DOOMED
        )
        return some.node(
            marker=some.marker(written=when, body=MarkerBody(early=now is Now.DOOMED)) if marker else None,
            instance=None if now in {Now.HIDDEN, Now.GONE} else there,
            history=(some.operation(ops[fate]),) if fate in ops else (),
            unsure="unreachable: us-central1-a" if hides else "",
            missing_since=when,
        )

    return build


@pytest.mark.parametrize("case", CASES, ids=words)
def test_every_case_has_a_row(case):
    """The table leaves nothing open."""
    assert row_of(case) in TABLE


def test_no_row_is_shadowed():
    """Each row decides at least one case that no row above it decides."""
    decided = [row_of(case) for case in CASES]
    assert all(row in decided for row in TABLE)


@pytest.mark.parametrize("case", REAL, ids=words)
def test_every_case_that_can_happen_has_the_verdict_it_should(facts_of, limits, tick, case):
    """Seen from real facts: what the log and the lists say is found, and decides."""
    judgement = judged(facts_of(case), limits, tick, case)
    assert (judgement.fate, judgement.now) == case[1:]
    expected = PRESENT.get((case[0], case[2])) or LOST[case[1]]
    assert judgement.verdict is expected


@pytest.mark.parametrize(("row", "after"), list(pairwise(TABLE)), ids=lambda row: row.why)
def test_neighbouring_rows_are_parted_by_the_fact_that_they_name(facts_of, limits, tick, row, after):
    """The nearest cases of two neighbours differ only in what the rows themselves say differently."""
    mine, theirs = ([case for case in CASES if row_of(case) is one] for one in (row, after))
    one, other = min(product(mine, theirs), key=lambda pair: apart(*pair))
    named = sum(
        getattr(row, field) is not None
        and getattr(after, field) is not None
        and getattr(row, field) != getattr(after, field)
        for field in ("marker", "fate", "now")
    )
    assert apart(one, other) == max(named, 1)
    for case in {one, other} & set(REAL):
        judgement = judged(facts_of(case), limits, tick, case)
        assert judgement.why.startswith(row_of(case).why)


def test_an_incomplete_list_says_what_is_missing_and_is_not_looked_at_again_soon(facts_of, limits, tick):
    """Not in the list is not gone, while a zone did not answer; only the next tick may see more."""
    judgement = judge(facts_of((True, Fate.PREEMPTED, Now.HIDDEN)), limits, tick)
    assert "us-central1-a" in judgement.why
    assert not judgement.soon


def test_what_an_incomplete_list_does_show_is_true(some, limits, tick):
    """An instance that is seen alive counts, whatever else is hidden."""
    seen = some.node(instance=some.instance(), history=(), unsure="unreachable: europe-west4-a")
    assert judge(seen, limits, tick).verdict is LossVerdict.CLEAR


def test_a_stopping_instance_is_looked_at_again_soon(facts_of, limits, tick):
    """Its name is free within seconds."""
    assert judge(facts_of((True, Fate.PREEMPTED, Now.GOING)), limits, tick).soon


def test_a_lost_marker_and_a_written_one_are_told_apart_in_the_reason(facts_of, limits, tick):
    """People read why: with a marker the instance is gone, without one it was lost."""
    marked, lost = (
        judge(facts_of((marker, Fate.SILENT, Now.GONE)), limits, tick) for marker in (True, False)
    )
    assert "no marker" not in marked.why
    assert "no marker" in lost.why


@pytest.mark.parametrize("fate", list(Fate), ids=lambda fate: fate.name)
def test_nothing_is_announced_for_a_job_that_did_not_ask_for_it(facts_of, limits, tick, fate):
    """An early marker of a job without handover is the marker of an instance that lives."""
    doomed = facts_of((True, fate, Now.DOOMED))
    assert judge(doomed, limits, tick).verdict is LossVerdict.CLEAR
    fresh = replace(doomed, instance=replace(doomed.instance, started=tick.now))
    assert judge(fresh, limits, tick).verdict is W
