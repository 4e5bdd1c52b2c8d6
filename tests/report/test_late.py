"""The report where things come late, bit by bit, or are lost: in the end its figures are whole.

And until they are, nobody is told of a week.
"""

import gc
from datetime import datetime, timedelta

import msgspec
import pytest

from spotwarden.layout import Code, Heartbeat, ReportPart
from spotwarden.model.heartbeat import Beat
from spotwarden.ports import UnansweredError
from spotwarden.report import due, news
from tests.fakes.trouble import unanswered
from tests.report.report_world import HOUR, MINUTE, ReportWorld
from tests.report.test_sweep import full, swept


@pytest.fixture
def world():
    """An empty bucket, on a Wednesday at noon; its report has no pages."""
    return ReportWorld(pages=False)


MONDAY = timedelta(days=4, hours=20)
"""From the world's Wednesday noon to Monday at eight."""


def monday(world):
    """A job of last week, on the Monday after it: messages are due."""
    full(world).wait(days=MONDAY.days, seconds=MONDAY.seconds)
    return world


def messages(world):
    """The weekly reports that stand on the topic."""
    return [one for one in world.cloud.notices.messages if one.attributes["id"].startswith("weekly")]


def until_told(world):
    """Ticks until there are messages, that one included."""
    for ticks in range(1, 9):
        world.tick()
        if messages(world):
            return ticks
        world.wait(minutes=10)
    raise AssertionError("nobody was told")


def test_a_whole_report_tells_the_week(world):
    """At the first tick of Monday at eight."""
    assert until_told(monday(world)) == 1


def test_the_week_is_not_told_while_jobs_are_yet_to_be_read(world, monkeypatch):
    """Three that nobody knows, one in each tick: the third tells."""
    monkeypatch.setattr(due, "FIRST", 1)
    monday(world)
    for job in ("a", "b", "c"):
        world.job(job)
        world.end(job)
    assert until_told(world) == 3


def test_the_week_is_not_told_while_the_meter_is_yet_to_be_read(world, monkeypatch):
    """One day of it fills a tick."""
    monkeypatch.setattr(news, "JOBS", 1)
    monday(world)
    for number in range(1, 3):
        start = world.now - timedelta(days=number)
        world.metered(start.date(), ("train", "22", start, 60))
    assert until_told(world) == 3


@pytest.mark.parametrize("most", ["SWEEPS", "LOADS"])
def test_the_week_is_not_told_while_sweeps_are_yet_to_be_read(world, monkeypatch, most):
    """Without them what idled counts as useful; a tick reads so many of them, or of so many VMs."""
    monkeypatch.setattr(news, most, 1)
    monday(world)
    for _ in range(2):
        world.wait(minutes=1)
        swept(world, {"22": (0.0, 0.0)})
    assert until_told(world) == 3


def test_the_week_is_not_told_by_a_tick_that_could_not_read_a_job(world):
    """The next one can, and tells."""
    monday(world).cloud.store.trouble.order("read", unanswered(after_work=False), about="^train/", times=99)
    with pytest.raises(ExceptionGroup):
        world.tick()
    assert messages(world) == []
    world.cloud.store.trouble.calm()
    assert until_told(world) == 1


def test_the_week_is_not_told_where_what_a_job_had_gathered_is_lost(world):
    """Its summary is broken: the tick that finds it so makes half a one, and the next a whole."""
    full(world).tick()
    world.wait(days=MONDAY.days, seconds=MONDAY.seconds)
    world.store(ReportPart(path="jobs/train.json.gz"), b"broken")
    assert until_told(world) == 2


def test_the_meter_loses_nothing_when_it_takes_several_ticks(world, monkeypatch):
    """A job that was looked at meanwhile gets the days that were left for later, too."""
    monkeypatch.setattr(news, "JOBS", 1)
    world.store(Code(job="bare"), b"tar")
    for days in (3, 2, 1):
        start = world.now - timedelta(days=days)
        world.metered(start.date(), ("bare", "11", start, 3_600))
    for _ in range(3):
        world.tick()
        world.wait(minutes=10)
    assert world.json("/index.json")["jobs"][0]["up_seconds"] == 3 * 3_600


def test_the_meter_may_add_to_a_day_that_is_over(world):
    """Who counts was down at midnight, and counted the rest of that day an hour later."""
    world.store(Code(job="bare"), b"tar")
    start = world.now.replace(hour=22)
    world.wait(hours=11)
    world.metered(start.date(), ("bare", "11", start, 3_600))
    world.tick()
    world.wait(hours=2, minutes=30)
    world.tick()
    world.metered(start.date(), ("bare", "11", start, 7_200))
    world.tick()
    assert world.json("/index.json")["jobs"][0]["up_seconds"] == 2 * 3_600


def test_a_report_that_is_deleted_knows_what_idled_weeks_ago(world):
    """All sweeps of a month are read anew."""
    full(world).tick()
    world.wait(days=20)
    world.tick()
    for entry in world.cloud.store.entries(world.layout.report()):
        world.cloud.store.delete(entry.name, generation=entry.generation)
    world.tick()
    assert [one["percent"] for one in world.json("/jobs/train.json")["loads"]] == [[0.0, 50.0]]


def test_where_nobody_looks_at_gpus_one_look_for_sweeps_is_enough(world):
    """Not one for each day of a month."""
    world.tick()
    cloud, asked = world.heard()
    world.tick(cloud)
    assert [what for _, what in asked if "sweeps/" in what] == [world.layout.sweeps("flag_idle_gpus")]


def test_sweeps_of_more_than_a_month_ago_are_not_read(world):
    """They are as many as the bucket keeps."""
    full(world).wait(days=31)
    cloud, asked = world.heard()
    world.tick(cloud)
    assert [what for call, what in asked if call == "read" and "sweeps/" in what] == []


def test_a_day_that_is_over_is_read_again_until_it_is_on_record(world):
    """A tick that dies after the index and before the day's own object leaves it to the next."""
    full(world).wait(days=2)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about="report/days/")
    with pytest.raises(UnansweredError):
        world.tick()
    world.wait(minutes=10)
    world.tick()
    assert world.json("/trust.json?day=2026-11-18")["found"] == 1


def test_a_vm_without_a_ledger_is_not_up_for_ever(world):
    """The meter has not seen it for an hour: its job's page says so, too."""
    world.store(Code(job="bare"), b"tar")
    world.metered(world.now.date(), ("bare", "11", world.now - HOUR, 3_600))
    world.tick()
    assert [bar["fate"] for bar in world.json("/jobs/bare.json")["bars"]] == ["up"]
    world.wait(hours=1)
    world.tick()
    assert [bar["fate"] for bar in world.json("/jobs/bare.json")["bars"]] == ["unknown"]


def test_pages_say_while_figures_are_not_whole(world, monkeypatch):
    """Whoever looks at the fleet on Monday morning is not misled; the copy without a server says so, too."""
    monkeypatch.setattr(due, "FIRST", 1)
    world.pages = True
    for job in ("a", "b"):
        world.store(Code(job=job), b"tar")
    said = []
    for _ in range(2):
        world.tick()
        pages = (world.get("/fleet").get_data(), world.part("site/fleet.html"))
        said.append([b"These figures are incomplete" in page for page in pages])
        world.wait(minutes=10)
    assert said == [[True, True], [False, False]]


def test_a_search_that_finds_nothing_says_where_it_has_looked(world):
    """A VM of no job that is on record: the audit of a week, or of the day that was asked for."""
    world.tick()
    found = [world.get(f"/trust?about=77{day}").get_data(as_text=True) for day in ("", "&day=2026-11-01")]
    assert "since 2026-11-12; for older ones, choose a day" in found[0]
    assert "No action on this name or ID on 2026-11-01." in found[1]


def test_a_job_whose_folder_is_gone_runs_no_more(world):
    """Nobody knows how it stands, and its runtime grows no longer; one that had ended has ended."""
    for job in ("train", "done"):
        world.job(job)
    world.end("done")
    world.tick()
    for job in ("train/", "done/"):
        for entry in list(world.cloud.store.entries(job)):
            world.cloud.store.delete(entry.name, generation=entry.generation)
    for _ in range(2):
        world.wait(days=1)
        for _ in range(due.ROUND):
            world.tick()
        rows = world.json("/index.json")["jobs"]
        assert [(one["status"], one["runtime_seconds"]) for one in rows] == [
            ("ended", 3_600),
            ("unknown", 3_600),
        ]


@pytest.mark.parametrize("left", ["", "train/my-code.tar"])
def test_a_job_whose_records_are_gone_keeps_its_history(world, left):
    """Its code was there once, and may be there still."""
    world.store(Code(job="train"), b"tar")
    full(world).tick()
    for entry in list(world.cloud.store.entries("train/")):
        if entry.name != left:
            world.cloud.store.delete(entry.name, generation=entry.generation)
    world.wait(minutes=10)
    world.tick()
    assert [one["preemptions"] for one in world.json("/index.json")["jobs"]] == [1]
    assert [bar["attempt"] for bar in world.json("/jobs/train.json")["bars"]] == [1, 2]


def test_a_vm_that_the_ledger_does_not_know_costs_as_much(world):
    """Somebody has launched a second one for the job, by hand; the job itself is as its ledger says."""
    world.job(ago=2 * HOUR)
    world.metered(
        world.now.date(),
        ("train", "11", world.now - 2 * HOUR, 7_200),
        ("train", "99", world.now - 3 * HOUR, 3_600),
    )
    world.tick()
    (one,) = world.json("/index.json")["jobs"]
    assert (one["up_seconds"], one["attempts"], one["nodes"], one["gpus"]) == (3 * 3_600, 1, 1, 1)
    assert world.json("/fleet.json")["total"]["vm_hours"]["used"] == 3


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_a_heartbeat_of_a_wrong_clock_spoils_no_page(world, at, zone):
    """What it measures is shown, its moment is not believed, and everybody else's rows are there."""
    world.job()
    world.beats({"at": at, "metrics": {"loss": 1}, "checkpoint": "a"})
    world.store(Heartbeat(job="train", node="train"), f'{{"at": "{at}", "metrics": {{"loss": 2}}}}'.encode())
    world.tick()
    for page in ("/", "/jobs/train"):
        assert world.get(f"{page}?tz={zone}").status_code == 200
    (metric,) = world.json("/jobs/train.json")["job"]["metrics"]
    assert (metric["last"], metric["at"]) == (2.0, None)


def test_the_last_sign_of_a_job_is_its_progress(world):
    """Its heartbeat comes each five minutes, whether its program hangs or not."""
    world.job()
    beat = {"at": world.now, "progress_at": world.now - 3 * HOUR, "step": 7}
    world.store(Heartbeat(job="train", node="train"), msgspec.json.encode(beat))
    world.tick()
    progress = world.json("/jobs/train.json")["job"]["progress"]
    assert (progress["step"], datetime.fromisoformat(progress["at"])) == (7, world.now - 3 * HOUR)


@pytest.mark.parametrize(("ahead", "believed"), [(60, True), (61, False)])
def test_a_clock_may_be_an_hour_ahead(world, ahead, believed):
    """A moment that is later than that was never."""
    world.job()
    world.beats({"at": world.now + ahead * MINUTE, "metrics": {"loss": 1}})
    world.tick()
    assert bool(world.json("/jobs/train.json")["curves"]) is believed


def test_a_warm_function_does_not_hold_every_heartbeat_that_it_has_read(world):
    """A metrics file has thousands of them, and another generation at each tick."""
    first = world.job()
    lines = [{"at": first.created, "step": number} for number in range(500)]
    before = held(Beat)
    for number in range(2):
        world.beats(*lines, {"at": world.now, "step": 500 + number})
        world.tick()
        world.wait(minutes=10)
    assert held(Beat) - before < 10


def held(kind):
    """How many of this kind are in memory."""
    return sum(isinstance(one, kind) for one in gc.get_objects())
