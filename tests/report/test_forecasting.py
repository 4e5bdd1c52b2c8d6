"""Forecasts in the report: what is kept of a job for one, what VMs cost, who reads them where."""

from random import Random

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import Try
from spotwarden.model.heartbeat import Beat
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.prices import PriceTable
from spotwarden.recovery.forecast.pasts import past_of
from spotwarden.recovery.forecast.table import read_markets
from spotwarden.report import views as pages
from spotwarden.report.figures.forecasting import Forecaster, course_of, pasts_of, returns
from spotwarden.report.figures.money import Till
from spotwarden.report.figures.rows import summary
from spotwarden.report.figures.weekly import weekly
from spotwarden.report.model.job import Curve, CurvePoint, JobReport
from spotwarden.report.model.kept import Gathered, JobSpotPast, NodeMetrics, Ran, ReportIndex, Sources
from tests.report.test_counting import HOUR, NOON, RULES, TAKEN, attempt, gathered
from tests.report.test_weekly import ADA, MONDAY, OPS, POLICY, PRICES, WEEK, job

STEPS = Beat(step=400, steps=1000, attempt=1, first_step=0)
FORECASTER = Forecaster(markets=read_markets(), limits=PlacementLimits(), chance=Random)


def line(node, *points, attempt=1, saved=()):
    """What a node's metrics say: moments in hours after noon, with steps."""
    curve = Curve(
        metric="loss",
        points=tuple(CurvePoint(at=NOON + at * HOUR, step=step, value=0.5) for at, step in points),
    )
    return NodeMetrics(
        node=node, attempt=attempt, curves=(curve,), saved=tuple((NOON + at * HOUR, str(at)) for at in saved)
    )


def course(*lines, **facts):
    """How a job goes that began at noon, four hours later."""
    said = {"beat": STEPS, "moved": NOON + 4 * HOUR, "returns": False, **facts}
    return course_of((attempt(),), JobFile(), lines, now=NOON + 4 * HOUR, **said)


def test_the_pace_is_that_of_the_node_that_tells_most():
    """Nodes of a gang tell the same steps; points without any tell none."""
    told = course(line("a", (1, 0), (2, 50)), line("b", (1, 0), (1.5, None), (2, 50), (4, 300)))
    assert told.whole == pytest.approx(10.0)
    assert told.left == pytest.approx(6.0)


def test_saves_are_those_of_one_attempt():
    """Half an hour apart."""
    assert course(line("a", (1, 0), (4, 300), saved=(1, 1.5, 2))).interval == pytest.approx(0.5)


def test_without_metrics_heartbeats_tell():
    """400 steps in the four hours since its start."""
    assert course().whole == pytest.approx(10.0)
    assert course(beat=None, moved=None).unknown
    assert course(beat=replace(STEPS, attempt=7)).unknown


def test_what_a_forecast_needs_is_kept_while_the_job_is_open():
    """Of a job that is over nothing."""
    running = summary(Sources(job="train", ledger=(attempt(),), beat=STEPS), gathered(), RULES)
    over = summary(Sources(job="train", ledger=(attempt(),), status_code="0", ended=NOON), gathered(), RULES)
    assert running.entry.course is not None
    assert running.entry.course.since is not None
    assert over.entry.course is None


DUE = JobFile(work=20 * HOUR, deadline=NOON + 40 * HOUR)
SAVED = (line("train", (1, 0), saved=(1,)),)
EARLY = Ran(zone="us-central1-a", early=True)


@pytest.mark.parametrize(
    ("file", "facts", "comes_back"),
    [
        ({}, {}, True),
        ({"handover": True}, {"ran": {}, "lines": ()}, True),
        ({}, {"ran": {}}, False),
        ({}, {"lines": ()}, False),
        ({"handover": False}, {}, False),
        ({"deadline": None}, {}, False),
        ({"move": False}, {}, False),
        ({"ladder": (Rung(model=VmModel.SPOT),)}, {}, False),
    ],
    ids=[
        "its VM hands over", "its owner says so", "its VM does not", "no checkpoint", "its owner says no",
        "no deadline", "no moves", "a ladder",
    ],
)  # fmt: skip
def test_a_job_comes_back_to_spot_where_its_records_say_that_it_hands_over(file, facts, comes_back):
    """As recovery decides by its script."""
    known = Gathered(**{"ran": {"11": EARLY}, "lines": SAVED, **facts})
    sources = Sources(job="train", ledger=(attempt(),), file=replace(DUE, **file), beat=STEPS)
    assert returns(sources, known) is comes_back


@pytest.mark.parametrize(
    "facts",
    [{"instances": {"a": "1", "b": "2"}}, {"tries": (Try(place="us-east4", request_id="r", at=NOON),)}],
)
def test_a_gang_and_a_job_that_names_a_region_do_not(facts):
    """Nor one without a record."""
    known = Gathered(ran={"11": EARLY}, lines=SAVED)
    assert not returns(Sources(job="train", ledger=(attempt(**facts),), file=DUE, beat=STEPS), known)
    assert not returns(Sources(job="train", file=DUE, beat=STEPS), known)


def test_a_job_on_an_on_demand_vm_that_comes_back_pays_less():
    """Also one with one place, beside its VM; unless the policy moves none."""
    entry = opened()
    going = {"spot": False, "returns": True, "began": NOON, "deadline": MONDAY + 60 * HOUR}
    back = replace(entry, course=replace(entry.course, **going))
    stays = {
        FORECASTER.of(replace(back, course=replace(back.course, returns=False)), Till(PRICES), MONDAY),
        replace(FORECASTER, handover=False).of(back, Till(PRICES), MONDAY),
        replace(FORECASTER, limits=PlacementLimits(move=False)).of(back, Till(PRICES), MONDAY),
    }
    assert len(stays) == 1
    alone = FORECASTER.of(replace(back, course=replace(back.course, places=())), Till(PRICES), MONDAY)
    assert max(forecast(back).half_cost, alone.half_cost) < stays.pop().half_cost


def forecast(entry, prices=PRICES):
    """The forecast of a job."""
    return FORECASTER.of(entry, Till(prices), MONDAY)


def opened(name="a", **parts):
    """A job of Ada's with ten hours of work left, on two VMs."""
    going = replace(course(line("a", (1, 0), (4, 300))), left=10.0, whole=10.0, spot=True, since=MONDAY)
    entry = job(name, **parts)
    return replace(entry, row=replace(entry.row, nodes=2), course=going)


def test_an_hour_costs_what_its_newest_vms_do_times_its_nodes():
    """Two at $0.40 for ten hours at least; on demand at $1."""
    assert 8.0 <= forecast(opened()).half_cost < forecast(opened()).most_cost
    entry = opened()
    assert forecast(replace(entry, course=replace(entry.course, spot=False))).half_cost >= 20.0


def test_without_a_price_there_is_no_bill():
    """Nor where nobody has seen its VMs; nor a forecast of a job that is over."""
    assert forecast(opened(), PriceTable()).half_cost is None
    assert forecast(replace(opened(), cells=())).half_cost is None
    assert forecast(job("a")) is None


LOST = past_of((0.5,) * 40, (), (3.0,) * 40)


def lived(entry, past=LOST, **row):
    """The entry of a job with this past, on the machine type of Ada's."""
    seen = JobSpotPast(machine=opened().course.machine, place=opened().course.place, past=past)
    return replace(entry, past=seen, row=replace(entry.row, **row))


def beside(entry, *others):
    """When nine in ten such jobs end, in a report with others."""
    pasts = pasts_of((entry, *others), MONDAY)
    return replace(FORECASTER, pasts=lambda: pasts).of(entry, Till(PRICES), MONDAY).most


def test_what_other_jobs_went_through_tells_when_one_ends():
    """Those that are over, too, but for the long over; and its own past only once."""
    alone = beside(opened())
    over = job("b")
    assert beside(opened(), lived(over, ended=MONDAY)) > alone
    assert beside(opened(), lived(over, ended=MONDAY - 31 * 24 * HOUR)) == alone
    assert beside(lived(opened())) == alone


def test_the_past_of_a_job_is_kept_when_it_is_over():
    """Its forecast is not."""
    ledger = (attempt(), attempt(2, lost=NOON + HOUR, fate=TAKEN, started=NOON + 2 * HOUR, ran="22"))
    over = summary(Sources(job="train", ledger=ledger, status_code="0", ended=NOON), gathered(), RULES)
    assert over.entry.past.past.lost == 1.0
    assert over.entry.course is None


def told(*entries):
    """The tables of Ada's weekly mail, by title."""
    index = ReportIndex(at=MONDAY, entries=entries)
    messages = weekly(index, WEEK, POLICY, PRICES, MONDAY, forecaster=FORECASTER)
    mails = {message.owner: {table.title: table.rows for table in message.tables} for message in messages}
    assert "Forecasts" not in mails[OPS]
    return mails[ADA]


def test_owners_read_in_the_weekly_mail_when_their_open_jobs_end():
    """Both ends, and what is still to pay; of jobs that are over nothing."""
    [row] = told(opened("going"), job("over"))["Forecasts"]
    assert row[0] == "going"
    assert row[1].startswith("2026-11-1")
    assert row[3].startswith("$")
    assert "Forecasts" not in told(job("over"))


def test_a_job_that_tells_nothing_is_unknown_there():
    """No date is made up."""
    entry = opened()
    [row] = told(replace(entry, course=replace(entry.course, unknown="it tells no progress")))["Forecasts"]
    assert row == ("a", "unknown", "unknown", "unknown")


def test_the_page_of_a_job_says_when_it_ends():
    """Beside its other facts; and what would make it known."""
    entry = opened()
    shown = JobReport(at=MONDAY, experiment=entry.row, forecast=forecast(entry))
    assert "(P90)" in pages.job(shown, pages.PageFrame())
    unknown = replace(entry, course=replace(entry.course, unknown="it tells no progress"))
    page = pages.job(replace(shown, forecast=forecast(unknown)), pages.PageFrame())
    assert "unknown: it tells no progress" in page
    assert "(P90)" not in page
