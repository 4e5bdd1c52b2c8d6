"""The report of a gang that goes on with fewer nodes: a bar for each VM, and no wait while some of it ran."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import Removal, Try, TryKind
from spotwarden.report.figures import counting, marks, rows, stays
from spotwarden.report.model.job import BarEnd, MarkKind
from spotwarden.report.model.kept import Sources
from tests.report.test_counting import HOUR, MINUTE, NOON, RULES, attempt, beats, gathered, seconds

PREEMPTED = stays.PREEMPTED
FIRST = Try(place="us-central1-a", request_id="first", at=NOON)
REFILL = replace(FIRST, request_id="refill", at=NOON + HOUR, kind=TryKind.REFILL, nodes=("c",))


@pytest.fixture
def ledger():
    """At 13:00 node c was lost; at 13:10 what was asked for again joined."""
    lost, joined = NOON + HOUR, NOON + HOUR + 10 * MINUTE
    bent = {"bent": True, "seen": False, "lost_in": "us-central1-a"}
    return (
        attempt(1, instances={"a": "1", "b": "2", "c": "3"}, tries=(FIRST,)),
        attempt(
            2,
            instances={"a": "1", "b": "2"},
            replaces={"c": "3"},
            tries=(FIRST, REFILL),
            fate=PREEMPTED,
            created=lost + MINUTE,
            started=lost + MINUTE,
            lost=lost,
            **bent,
        ),
        attempt(
            3,
            instances={"a": "1", "b": "2", "c": "4"},
            tries=(replace(REFILL, kind=TryKind.CREATE, nodes=()),),
            created=joined,
            started=joined,
            lost=joined,
            **bent,
        ),
    )


KNOWN = gathered("1", "2", "3", "4")


def end_at(ledger, hours):
    """The job ended so many hours after noon."""
    return Sources(job="gang", ledger=ledger, status_code="0", ended=NOON + hours * HOUR)


def test_each_vm_has_one_bar_and_only_the_lost_one_was_preempted(ledger):
    """Those that went on are up to the end, whatever joined or left."""
    found = stays.bars(end_at(ledger, 2), KNOWN, RULES)
    assert [(bar.attempt, bar.node, bar.instance_id, bar.fate) for bar in found] == [
        (1, "a", "1", BarEnd.ENDED),
        (1, "b", "2", BarEnd.ENDED),
        (1, "c", "3", BarEnd.PREEMPTED),
        (3, "c", "4", BarEnd.ENDED),
    ]
    assert [bar.end - bar.start for bar in found] == [2 * HOUR, 2 * HOUR, HOUR, 50 * MINUTE]


def test_a_node_that_its_owner_removed_was_stopped(ledger):
    """By whom is said; the others go on."""
    gone = Removal(instance_id="3", operation="op", kind="delete", user="ada@example.com", at=NOON + HOUR)
    removed = replace(ledger[1], removed={"c": gone}, fate="it was stopped")
    found = stays.bars(end_at((ledger[0], removed), 2), KNOWN, RULES)
    assert [(bar.node, bar.fate, bar.why) for bar in found if bar.fate is not BarEnd.ENDED] == [
        ("c", BarEnd.STOPPED, "delete by ada@example.com")
    ]


def test_a_gang_made_anew_after_it_bent_has_new_bars(ledger):
    """What it ran on was lost with it."""
    anew = replace(
        ledger[2], number=4, bent=False, instances={"a": "5"}, replaces=ledger[2].instances, fate=PREEMPTED
    )
    found = stays.bars(end_at((*ledger, anew), 2), KNOWN, RULES)
    assert [(bar.attempt, bar.instance_id, bar.fate) for bar in found][-2:] == [
        (3, "4", BarEnd.PREEMPTED),
        (4, "5", BarEnd.ENDED),
    ]


def test_a_gang_that_goes_on_has_waited_for_nothing(ledger):
    """Some of it ran all the time."""
    assert stays.waits(end_at(ledger, 2)) == ()
    assert seconds(end_at(ledger, 2), KNOWN).waiting == 0


def test_what_the_survivors_had_not_saved_is_lost_too(ledger):
    """Saved at 12:50: the ten minutes up to the loss were done again by all three nodes."""
    line = beats(saved=(NOON + 50 * MINUTE,))
    told = seconds(end_at(ledger, 2), gathered("1", "2", "3", "4", lines=(line,)))
    assert told.lost == 3 * 600
    assert told.useful == 2 * (7_200 - 600) + 3_000 + 3_000


def test_the_places_are_told_once_of_a_loss_a_refusal_and_a_refill(ledger):
    """A record repeats the last request of the one before it."""
    refused = replace(REFILL, error="ZONE_RESOURCE_POOL_EXHAUSTED", refused=NOON + HOUR)
    told = (ledger[0], replace(ledger[1], tries=(FIRST, refused)), replace(ledger[2], tries=(refused,)))
    entry = rows.summary(end_at(told, 2), KNOWN, RULES).entry
    assert [item.event.value for item in entry.happened] == ["gave", "preempted", "stockout", "gave"]
    [loss] = entry.losses
    assert (loss.preempted, loss.seconds) == (True, 600)
    assert (entry.row.nodes, entry.row.gpus, entry.row.preemptions) == (3, 3, 1)


def test_a_node_that_joins_is_no_loss_on_the_timeline(ledger):
    """One mark for the loss, and one for the refusal."""
    sources = end_at(ledger, 2)
    found = marks.marks(sources, KNOWN, stays.bars(sources, KNOWN, RULES))
    kinds = [mark.kind for mark in found]
    assert (kinds.count(MarkKind.PREEMPTED), kinds.count(MarkKind.LOST)) == (1, 0)
    assert kinds.count(MarkKind.LAUNCHED) == 4


def test_a_loss_whose_node_never_came_back_has_no_time_of_return(ledger):
    """The gang was closed before."""
    entry = rows.summary(end_at(ledger[:2], 2), KNOWN, RULES).entry
    assert [loss.seconds for loss in entry.losses] == [None]


def test_bars_count_each_second_once(ledger):
    """Seven hours less ten minutes of VMs, whatever their parts."""
    sources = end_at(ledger, 2)
    found = stays.bars(sources, KNOWN, RULES)
    total = sum((bar.end - bar.start for bar in found if bar.end), timedelta(0))
    _, cells = counting.cells(sources, KNOWN, found, (), RULES)
    assert sum(sum(cell.seconds) for cell in cells) == total.total_seconds()
