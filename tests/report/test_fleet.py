"""The fleet's tables: sums of the same cells, so that all of them add up, in time and in money."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from spotwarden.model.placement import PlaceEvent
from spotwarden.model.policy import Policy, Team
from spotwarden.model.prices import PriceTable, Rate, VmKind
from spotwarden.report.figures.fleet import FleetQuery, fleet, recovery
from spotwarden.report.figures.money import added
from spotwarden.report.figures.views import experiments
from spotwarden.report.model.experiments import Experiment, Money
from spotwarden.report.model.fleet import By, FleetReport, RecoveryFigures, Slice, Spans
from spotwarden.report.model.kept import Cell, Happened, IndexEntry, Loss, ReportIndex, Seconds

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
TODAY = NOON.date()
DAY = timedelta(days=1)
A100 = VmKind(
    machine_type="a2-highgpu-8g", gpu="nvidia-tesla-a100", gpus=8, region="r-one", provisioning="SPOT"
)
CPU = VmKind(machine_type="e2-standard-8", region="r-one", provisioning="STANDARD")
ODD = VmKind(machine_type="z9-mystery", gpus=3, region="r-one", provisioning="SPOT")
PRICES = PriceTable(
    rates=(
        Rate(machine="a2-highgpu-8g", gpus=8, region="r-one", standard=29.38708, spot=10.34684, date=TODAY),
        Rate(machine="e2-standard-8", region="r-one", standard=0.268, spot=0.1, date=TODAY - DAY),
    )
)
POLICY = Policy(version="test", teams={"vision": Team(owners=("a*",))})
WEEK = FleetQuery(TODAY - 6 * DAY, TODAY)


def cell(
    seconds: Seconds, *, kind: int = 0, owner: str = "ada", zone: str = "r-one-a", day: date = TODAY
) -> Cell:
    """A cell."""
    return Cell(day=day, zone=zone, kind=kind, owner=owner, seconds=seconds)


def entry(
    *cells: Cell, job: str = "train", kinds: tuple[VmKind, ...] = (A100, CPU, ODD), **said: object
) -> IndexEntry:
    """A job of these cells."""
    row = Experiment(job=job, owner=cells[0].owner if cells else "")
    return IndexEntry(row=row, kinds=kinds, cells=cells, looked=NOON, **said)


def figures(*entries: IndexEntry, asked: FleetQuery = WEEK, timezone: str = "UTC") -> FleetReport:
    """The fleet of these jobs."""
    return fleet(ReportIndex(at=NOON, entries=entries, timezone=timezone), asked, POLICY, PRICES)


# --- by hand ---


def test_a_day_of_a_job_by_hand():
    """Eight A100 on spot for an hour: half useful, a quarter idle, a quarter lost; waited for another half.

    8 GPU-hours; at $10.34684 of which half is wasted, $29.38708 on demand, $19.04024 saved.
    """
    total = figures(entry(cell(Seconds(useful=1_800, idle=900, lost=900, waiting=1_800)))).total
    hours = {name: getattr(total.gpu, name) / timedelta(hours=1) for name in Seconds._fields}
    assert hours == {
        "useful": 4.0, "starting": 0.0, "idle": 2.0, "lost": 2.0, "after": 0.0, "unknown": 0.0, "waiting": 4.0
    }  # fmt: skip
    assert total.gpu.used == timedelta(hours=8)
    assert total.gpu.goodput == 0.5
    assert (total.cost.usd, total.on_demand.usd, total.saved.usd) == (10.34684, 29.38708, 19.04024)
    assert total.waste.usd == 5.17342


def test_what_nobody_knows_is_no_part_of_goodput():
    """Of two hours one is unknown: half of the other was useful. Of nothing known there is none."""
    assert figures(entry(cell(Seconds(useful=1_800, idle=1_800, unknown=3_600)))).total.vm.goodput == 0.5
    assert figures(entry(cell(Seconds(unknown=3_600)))).total.vm.goodput is None
    assert figures().total.vm.goodput is None


def test_a_machine_without_a_price_costs_nobody_knows_what():
    """None, never 0; beside one that has a price the sum is a part."""
    assert figures(entry(cell(Seconds(useful=3_600), kind=2))).total.cost.usd is None
    both = figures(entry(cell(Seconds(useful=3_600)), cell(Seconds(useful=7_200), kind=2))).total.cost
    assert (both.usd, both.partial, both.unpriced) == (10.34684, True, timedelta(hours=2))


def test_a_vm_that_nobody_has_seen_has_nobody_knows_how_many_gpus():
    """Its row has no GPU time, and VM time all the same."""
    index = ReportIndex(at=NOON, entries=(entry(cell(Seconds(useful=60)), kinds=(VmKind(),)),))
    (row,) = experiments(index, POLICY, PRICES).rows
    assert (row.gpu_time, row.up_time, row.cost.usd) == (None, timedelta(minutes=1), None)


def test_waiting_costs_nothing():
    """No VM was up."""
    assert figures(entry(cell(Seconds(waiting=3_600)))).total.cost == Money()


def test_the_oldest_price_is_told():
    """Each sum rests on the oldest that is in it."""
    found = figures(entry(cell(Seconds(useful=1)), cell(Seconds(useful=1), kind=1)))
    assert found.total.cost.oldest == TODAY - DAY
    assert {one.key: one.cost.oldest for one in found.tables[By.MACHINE]}["a2-highgpu-8g"] == TODAY


def test_only_the_days_and_the_owner_asked_for_count():
    """The first and the last day do, those beside them do not."""
    days = [TODAY - 7 * DAY, TODAY - 6 * DAY, TODAY, TODAY + DAY]
    cells = [cell(Seconds(useful=10**place), day=day) for place, day in enumerate(days)]
    found = figures(
        entry(*cells),
        entry(cell(Seconds(useful=5), owner="bob"), job="other"),
        asked=WEEK._replace(owner="ada"),
    )
    assert found.total.vm.useful == timedelta(seconds=110)
    assert [one.key for one in found.tables[By.DAY]] == [str(TODAY - 6 * DAY), str(TODAY)]


def test_a_team_has_its_owners():
    """By the policy's globs; others are of no team."""
    found = figures(entry(cell(Seconds(useful=2))), entry(cell(Seconds(useful=1), owner="bob"), job="b"))
    assert {one.key: one.vm.useful.seconds for one in found.tables[By.TEAM]} == {"vision": 2, "": 1}


def test_recovery_times_are_nearest_ranks():
    """Of 1 to 100 s: 50, 90, 99 and 100; of one recovery all are it; without any none."""
    found = recovery(range(1, 101))
    assert [one.seconds for one in (found.median, found.p90, found.p99, found.longest) if one] == [
        50,
        90,
        99,
        100,
    ]
    assert recovery([7, None]) == RecoveryFigures(
        count=1, **dict.fromkeys(("median", "p90", "p99", "longest"), timedelta(seconds=7))
    )
    assert recovery([None]) == RecoveryFigures()


def test_a_loss_counts_on_its_day_in_the_policys_time_zone():
    """23:30 UTC on the last Sunday is Monday in Berlin."""
    sunday = datetime(2026, 11, 15, 23, 30, tzinfo=UTC)
    one = Loss(at=sunday, preempted=True, zone="r-one-a", machine="a2-highgpu-8g", seconds=60)
    monday = FleetQuery(date(2026, 11, 16), date(2026, 11, 22))
    assert figures(entry(losses=(one,)), asked=monday).total.preemptions == 0
    assert figures(entry(losses=(one,)), asked=monday, timezone="Europe/Berlin").total.preemptions == 1


def test_outages_are_by_zone_and_hour():
    """Two preemptions at 12, one stockout at 13."""
    happened = [
        ("r-one-a", 0, PlaceEvent.PREEMPTED),
        ("r-one-a", 59, PlaceEvent.PREEMPTED),
        ("r-one-b", 60, PlaceEvent.STOCKOUT),
    ]
    moments = tuple(
        Happened(zone=zone, at=NOON + timedelta(minutes=at), event=event) for zone, at, event in happened
    )
    found = figures(entry(happened=moments)).outages
    assert [(one.zone, one.hour.hour, one.preempted, one.stockouts) for one in found] == [
        ("r-one-a", 12, 2, 0),
        ("r-one-b", 13, 0, 1),
    ]


# --- whatever the fleet ---

cell_of = st.builds(
    cell,
    st.builds(Seconds, *(st.integers(0, 86_400) for _ in Seconds._fields)),
    kind=st.integers(0, 2),
    owner=st.sampled_from(("", "ada", "bob", "alan")),
    zone=st.sampled_from(("", "r-one-a", "r-two-b")),
    day=st.integers(0, 9).map(lambda back: TODAY - back * DAY),
)
loss_of = st.builds(
    Loss,
    at=st.integers(0, 9).map(lambda back: NOON - back * DAY),
    preempted=st.booleans(),
    zone=st.sampled_from(("", "r-one-a")),
    machine=st.sampled_from(("", "a2-highgpu-8g")),
    seconds=st.none() | st.integers(0, 5_000),
)
entries = st.lists(st.tuples(st.lists(cell_of, max_size=4), st.lists(loss_of, max_size=3)), max_size=5).map(
    lambda jobs: [
        entry(*cells, job=f"job-{number}" if number else "", losses=tuple(losses))
        for number, (cells, losses) in enumerate(jobs)
    ]
)


def spans(slices: list[Slice], unit: str) -> dict[str, timedelta]:
    """Each part, added up."""
    return {
        part: sum((getattr(getattr(one, unit), part) for one in slices), timedelta(0))
        for part in Spans.__struct_fields__
    }


@given(jobs=entries)
def test_every_table_adds_up_to_the_total(jobs: list[IndexEntry]):
    """Time to the second, money to the millionth of a dollar, losses to the last one."""
    found = figures(*jobs)
    for rows in found.tables.values():
        for unit in ("gpu", "vm"):
            assert spans(list(rows), unit) == spans([found.total], unit)
        for name in ("cost", "on_demand", "saved", "waste"):
            assert added(getattr(one, name) for one in rows) == getattr(found.total, name)
        assert sum(one.preemptions for one in rows) == found.total.preemptions
        assert sum(one.recovery.count for one in rows) == found.total.recovery.count


@given(jobs=entries)
def test_the_experiments_cost_what_the_fleet_has_cost(jobs: list[IndexEntry]):
    """Over all days, job by job."""
    asked = FleetQuery(date(2000, 1, 1), date(2100, 1, 1))
    index = ReportIndex(at=NOON, entries=tuple(jobs))
    table = {one.key: one for one in fleet(index, asked, POLICY, PRICES).tables[By.JOB]}
    for row in experiments(index, POLICY, PRICES).rows:
        slice_ = table.get(row.job, Slice())
        assert (row.cost, row.on_demand, row.saved) == (slice_.cost, slice_.on_demand, slice_.saved)
        assert (row.gpu_time, row.up_time) == (slice_.gpu.used, slice_.vm.used)
