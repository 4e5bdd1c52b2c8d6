"""Where a job's VM time went, by hand: every second of every VM into exactly one part."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, AttemptState, Try
from spotwarden.model.ladder import VmModel
from spotwarden.model.prices import VmKind
from spotwarden.report.figures import intervals, stays
from spotwarden.report.figures.counting import cells, kept_until, parts
from spotwarden.report.model.job import BarEnd
from spotwarden.report.model.kept import (
    Cell,
    FigureRules,
    Gathered,
    KeptLoads,
    KeptUsage,
    NodeMetrics,
    Ran,
    Seconds,
    Sources,
)

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
L4 = VmKind(machine_type="g2-standard-8", gpu="nvidia-l4", gpus=1, region="us-central1", provisioning="SPOT")
RULES = FigureRules(now=NOON + 12 * HOUR)
TAKEN = "Compute Engine preempted it"


def attempt(number: int = 1, *, ran: str = "11", **said: object) -> Attempt:
    """An attempt that runs from noon on."""
    usual = {
        "job": "train",
        "number": number,
        "state": AttemptState.RUNNING,
        "created": NOON,
        "updated": NOON,
        "started": NOON,
        "owner": "ada",
        "seen": number == 1,
        "instances": {"train": ran},
        "tries": (Try(place="us-central1-a", request_id="r", at=NOON),),
    }
    return Attempt(**{**usual, **said})


def lost(at: datetime, started: datetime | None, **said: object) -> Attempt:
    """The attempt after a preemption."""
    begun = {"created": at, "started": started, "lost": at, "lost_in": "us-central1-a", "fate": TAKEN}
    return attempt(2, ran="22", **{"replaces": {"train": "11"}, **begun, **said})


def gathered(*ids: str, **said: object) -> Gathered:
    """VMs whose launch is on record."""
    ran = {one: Ran(zone="us-central1-a", kind=L4) for one in ids or ("11", "22")}
    return Gathered(ran=ran, **said)


def seconds(sources: Sources, known: Gathered, rules: FigureRules = RULES) -> Seconds:
    """All cells of a job together."""
    bars = stays.bars(sources, known, rules)
    _, found = cells(sources, known, bars, stays.waits(sources), rules)
    return Seconds(*(sum(one.seconds[part] for one in found) for part in range(len(Seconds._fields))))


def beats(number: int = 1, *, first: datetime | None = None, saved: tuple[datetime, ...] = ()) -> NodeMetrics:
    """What an attempt's heartbeats have said."""
    return NodeMetrics(node="train", attempt=number, first=first, saved=tuple((at, "c") for at in saved))


# --- one fact at a time ---


def test_a_vm_that_nothing_is_known_against_was_useful():
    """Up for an hour, then the job ended: 3,600 s."""
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    assert seconds(sources, gathered()) == Seconds(useful=3_600)


def test_a_vm_that_runs_is_counted_up_to_now():
    """Twelve hours by now."""
    assert seconds(Sources(job="train", ledger=(attempt(),)), gathered()) == Seconds(useful=12 * 3_600)


def test_what_was_done_since_the_checkpoint_is_lost_with_the_vm():
    """Saved at 12:20 and 12:40, taken at 13:00, on from 13:05: 2,400 s kept, 1,200 lost, 300 waited."""
    ledger = (attempt(), lost(NOON + HOUR, NOON + 65 * MINUTE))
    line = beats(saved=(NOON + 20 * MINUTE, NOON + 40 * MINUTE))
    sources = Sources(job="train", ledger=ledger, status_code="0", ended=NOON + 2 * HOUR)
    assert seconds(sources, gathered(lines=(line,))) == Seconds(useful=2_400 + 3_300, lost=1_200, waiting=300)


def test_a_job_that_tells_of_no_checkpoint_may_have_lost_anything():
    """Nobody knows what of its first hour was saved."""
    ledger = (attempt(), lost(NOON + HOUR, NOON + HOUR))
    sources = Sources(job="train", ledger=ledger, status_code="0", ended=NOON + 2 * HOUR)
    assert seconds(sources, gathered()) == Seconds(useful=3_600, unknown=3_600)


def test_an_attempt_without_a_checkpoint_of_its_own_has_lost_all():
    """The one before it had one: so the job does tell."""
    third = replace(lost(NOON + 3 * HOUR, None), number=3, replaces={"train": "22"}, instances={})
    ledger = (
        attempt(),
        lost(NOON + HOUR, NOON + HOUR),
        replace(third, state=AttemptState.STOPPED, updated=NOON + 3 * HOUR),
    )
    known = gathered(lines=(beats(saved=(NOON + HOUR,)),))
    assert seconds(Sources(job="train", ledger=ledger), known) == Seconds(useful=3_600, lost=2 * 3_600)


def test_a_vm_starts_until_its_attempts_first_heartbeat():
    """Up at noon, heard at 12:03: 180 s of the hour."""
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    known = gathered(lines=(beats(first=NOON + 3 * MINUTE),))
    assert seconds(sources, known) == Seconds(useful=3_420, starting=180)


def test_slots_below_the_threshold_are_idle():
    """Of 12:00, 12:10 and 12:20 the second is at 4.9 percent, the third at 5.0: 600 s."""
    slot = int(NOON.timestamp()) // 600
    loads = {"11": KeptLoads(slots={str(slot): 90.0, str(slot + 1): 4.9, str(slot + 2): 5.0})}
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    assert seconds(sources, gathered(loads=loads)) == Seconds(useful=3_000, idle=600)


def test_what_was_lost_is_not_idle_as_well():
    """No second counts twice: idle from 12:00 on, saved at 12:10, taken at 12:30."""
    slot = int(NOON.timestamp()) // 600
    known = gathered(
        loads={"11": KeptLoads(slots={str(slot + number): 0.0 for number in range(3)})},
        lines=(beats(saved=(NOON + 10 * MINUTE,)),),
    )
    ledger = (attempt(), lost(NOON + 30 * MINUTE, NOON + 30 * MINUTE))
    sources = Sources(job="train", ledger=ledger, status_code="0", ended=NOON + HOUR)
    assert seconds(sources, known) == Seconds(useful=1_800, idle=600, lost=1_200)


def test_a_vm_that_outlives_its_job_is_counted_as_after():
    """The meter saw it up until 13:30, and the job ended at 13:00."""
    run = KeptUsage(owner="ada", kind=L4, runs={NOON.isoformat(): {"2026-11-18": 5_400}})
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    assert seconds(sources, gathered(metered={"11": run})) == Seconds(useful=3_600, after=1_800)


def test_the_meter_knows_when_a_vm_really_started():
    """Two minutes before our sweep saw it."""
    run = KeptUsage(kind=L4, runs={(NOON - 2 * MINUTE).isoformat(): {"2026-11-18": 600}})
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    assert seconds(sources, gathered(metered={"11": run})) == Seconds(useful=3_720)


def test_a_job_without_a_ledger_has_what_the_meter_saw():
    """Half an hour, last seen long ago; in its region, for nobody has written down its zone."""
    run = KeptUsage(owner="ada", kind=L4, runs={NOON.isoformat(): {"2026-11-18": 1_800}})
    sources, known = Sources(job="train"), Gathered(metered={"11": run})
    (bar,) = stays.bars(sources, known, RULES)
    assert (bar.zone, bar.fate, bar.end) == ("us-central1", BarEnd.UNKNOWN, NOON + 30 * MINUTE)
    assert seconds(sources, known) == Seconds(useful=1_800)


def test_a_vm_without_an_id_or_a_kind_is_counted_all_the_same():
    """It has no machine type, no GPU that anybody knows of, and no price."""
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    bars = stays.bars(sources, Gathered(), RULES)
    kinds, found = cells(sources, Gathered(), bars, (), RULES)
    assert kinds == (VmKind(),)
    assert [one.seconds for one in found] == [Seconds(useful=3_600)]


def test_a_vm_that_nobody_saw_is_of_the_machine_that_was_asked_for():
    """Another machine type than its job's other VMs, or the script's own where they were on another."""

    def kind(seen: str, asked: str, key: str) -> VmKind:
        usage = KeptUsage(
            owner="ada", kind=replace(L4, machine_type=seen), runs={NOON.isoformat(): {"2026-11-18": 1_800}}
        )
        tried = Try(place="us-east4-b", request_id="r", at=NOON, machine=asked)
        record = replace(attempt(), tries=(tried,), machine=key, gpus=2)
        return stays.kind_of("nobody", record, Gathered(metered={"77": usage}))

    own, key = "n1-standard-8", "n1-standard-8-nvidia-tesla-t4"
    found = kind(own, "a2-highgpu-1g", key)
    assert (found.machine_type, found.gpus, found.region) == ("a2-highgpu-1g", 0, "us-east4")
    found = kind("a2-highgpu-1g", "", key)
    assert (found.machine_type, found.gpu, found.gpus) == (own, "nvidia-tesla-t4", 2)
    assert kind(own, "", key).gpu == L4.gpu


@pytest.mark.parametrize(
    ("asked", "seen", "model"),
    [
        ({"notice": True}, "STANDARD", "SPOT"),
        ({"model": VmModel.FLEX, "spot": False}, "SPOT", "FLEX_START"),
        ({"spot": False}, "SPOT", "STANDARD"),
        ({}, "STANDARD", "STANDARD"),
        ({}, "SPOT", "SPOT"),
    ],
)
def test_a_vm_that_nobody_saw_is_of_the_model_that_was_asked_for(asked, seen, model):
    """A spot VM that was taken within a minute is none on demand because its successor is one."""
    usage = KeptUsage(kind=replace(L4, provisioning=seen), runs={NOON.isoformat(): {"2026-11-18": 1_800}})
    tried = Try(place="us-central1-a", request_id="r", at=NOON, **asked)
    record = replace(attempt(), tries=(tried,))
    assert stays.kind_of("nobody", record, Gathered(metered={"77": usage})).provisioning == model


def test_a_gang_counts_each_of_its_vms():
    """Two VMs for an hour, and both wait five minutes."""
    pair = {"train-1": "11", "train-2": "12"}
    after = lost(NOON + HOUR, NOON + 65 * MINUTE, replaces=pair, instances={"train-1": "21", "train-2": "22"})
    sources = Sources(
        job="train", ledger=(attempt(instances=pair), after), status_code="0", ended=NOON + 65 * MINUTE
    )
    known = gathered("11", "12", "21", "22", lines=(beats(saved=(NOON + HOUR,)),))
    assert seconds(sources, known) == Seconds(useful=7_200, waiting=600)


def test_a_job_that_was_started_again_by_its_owner_was_over_in_between():
    """Stopped at 13:00, asked for again at 15:00, up at 15:05."""
    stopped = attempt(state=AttemptState.STOPPED, updated=NOON + HOUR, reason="by its owner")
    again = attempt(
        2, ran="22", created=NOON + 3 * HOUR, started=NOON + 185 * MINUTE, replaces={"train": "11"}
    )
    sources = Sources(job="train", ledger=(stopped, again), status_code="0", ended=NOON + 4 * HOUR)
    assert seconds(sources, gathered()) == Seconds(useful=3_600 + 3_300, waiting=300)


# --- up to when work was kept ---


def test_a_checkpoint_counts_up_to_the_moment_of_the_loss():
    """One of the very moment does; one that was heard of a second later was another VM's."""
    sources = Sources(job="train", ledger=(attempt(), lost(NOON + HOUR, None)))
    bar = stays.bars(sources, gathered(), RULES)[0]
    on_time = gathered(lines=(beats(saved=(NOON + HOUR,)),))
    late = gathered(lines=(beats(saved=(NOON + HOUR + timedelta(seconds=1),)),))
    assert kept_until(bar, on_time) == NOON + HOUR
    assert kept_until(bar, late) == NOON


# --- days ---


def days(zone: str, start: datetime, end: datetime) -> dict[date, int]:
    """The seconds of each day."""
    return dict(intervals.by_day(intervals.pair(start, end), ZoneInfo(zone)))


def test_a_day_on_which_clocks_go_back_has_25_hours():
    """Berlin, 25 October 2026: from its midnight (22:00 UTC) to the next (23:00 UTC)."""
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    assert days("Europe/Berlin", start, start + 26 * HOUR) == {
        date(2026, 10, 25): 25 * 3_600,
        date(2026, 10, 26): 3_600,
    }


def test_a_day_on_which_clocks_go_forward_has_23_hours():
    """Berlin, 29 March 2026."""
    start = datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert days("Europe/Berlin", start, start + 24 * HOUR) == {
        date(2026, 3, 29): 23 * 3_600,
        date(2026, 3, 30): 3_600,
    }


def test_a_day_whose_midnight_is_skipped_begins_at_one():
    """Beirut, 29 March 2026: 00:00 is followed by 01:00, at 22:00 UTC."""
    start = datetime(2026, 3, 28, 21, 59, tzinfo=UTC)
    assert days("Asia/Beirut", start, start + 2 * MINUTE) == {date(2026, 3, 28): 60, date(2026, 3, 29): 60}


def test_cells_are_of_the_policys_days():
    """One minute before and one after midnight in Tokyo."""
    start = datetime(2026, 11, 18, 14, 59, tzinfo=UTC)
    one = attempt(created=start, started=start)
    sources = Sources(job="train", ledger=(one,), status_code="0", ended=start + 2 * MINUTE)
    rules = FigureRules(now=RULES.now, timezone="Asia/Tokyo")
    bars = stays.bars(sources, gathered(), rules)
    _, found = cells(sources, gathered(), bars, (), rules)
    assert [(cell.day, cell.seconds.useful) for cell in found] == [
        (date(2026, 11, 18), 60),
        (date(2026, 11, 19), 60),
    ]


def test_a_time_zone_that_nobody_knows_is_utc():
    """A figure of another day is better than none."""
    sources = Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON + HOUR)
    assert seconds(sources, gathered(), replace(RULES, timezone="Mars/Olympus")) == Seconds(useful=3_600)


# --- whatever the history ---

minutes = st.integers(0, 600).map(lambda count: NOON + count * MINUTE)
line = st.builds(
    lambda first, saved: beats(first=first, saved=tuple(sorted(saved))),
    minutes,
    st.lists(minutes, max_size=4),
)
idle = st.dictionaries(st.integers(0, 60), st.floats(0, 100), max_size=20).map(
    lambda slots: KeptLoads(slots={str(int(NOON.timestamp()) // 600 + at): top for at, top in slots.items()})
)


@given(taken=minutes, back=minutes, over=minutes, heard=line, loads=idle)
def test_the_parts_are_all_of_the_time_up_and_none_of_it_twice(
    taken: datetime, back: datetime, over: datetime, heard: NodeMetrics, loads: KeptLoads
):
    """For any order of losses, starts, checkpoints, idle slots and ends."""
    ledger = (attempt(), lost(taken, max(back, taken)))
    known = gathered(lines=(heard,), loads={"11": loads, "22": loads})
    sources = Sources(job="train", ledger=ledger, status_code="0", ended=over)
    for bar in stays.bars(sources, known, RULES):
        up = stays.up_of(bar, known, sources, RULES.now)
        found = parts(bar, sources, known, RULES)
        pieces = [piece for pairs in found.values() for piece in pairs]
        assert intervals.seconds(pieces) == intervals.seconds(up)
        assert intervals.union(pieces) == intervals.union(up)


def test_a_cell_is_written_as_a_row():
    """Short, for an index holds a hundred thousand of them."""
    assert Cell.__struct_config__.array_like
