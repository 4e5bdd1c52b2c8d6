"""An open job is looked at when a listing shows that something of it changed, and else once a day."""

from datetime import UTC, datetime, timedelta

import pytest

from spotwarden.layout import (
    CreateScript,
    Heartbeat,
    LogFile,
    MarkerName,
    OpenJob,
    ReportPart,
    StatusCode,
)
from spotwarden.model.standing import Standing
from spotwarden.ports import Entry
from spotwarden.recovery.folder import folder_list
from spotwarden.report import changes
from spotwarden.report.changes import FEW, states
from spotwarden.report.due import FRESH, ROUND
from tests.fakes.beats import kit_beat
from tests.report.report_world import HOUR, ReportWorld

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
MANY = FEW + 1
TICK_MINUTES = 10


@pytest.fixture
def world():
    """One open job that was looked at, and of which nothing has changed for more than an hour."""
    made = ReportWorld(pages=False)
    made.job()
    made.store(Heartbeat(job="train", node="train"), b"{}")
    return quiet(made)


def quiet(world):
    """Past the time in which every tick looks, and just after its turn in the round."""
    world.tick()
    world.wait(seconds=FRESH.total_seconds())
    world.tick()
    while not next_tick(world):
        pass
    return world


def looked(asked):
    """The jobs whose summaries a tick has read: those that it looked at."""
    start, end = "spotwarden/report/jobs/", ".json.gz"
    return {
        name.removeprefix(start).removesuffix(end)
        for call, name in asked
        if call == "read" and name.startswith(start)
    }


def next_tick(world):
    """The jobs that the next tick looks at, ten minutes later."""
    world.wait(minutes=TICK_MINUTES)
    cloud, asked = world.heard()
    world.tick(cloud)
    return looked(asked)


def standing(world):
    """How the report says that the job stands."""
    return next(entry.row.standing for entry in world.index().entries if entry.row.job == "train")


def test_an_open_job_of_which_nothing_changes_is_looked_at_in_its_turn(world):
    """Once a day, for its figures grow; in no other tick."""
    looks = [next_tick(world) for _ in range(ROUND)]
    assert looks == [set()] * (ROUND - 1) + [{"train"}]


@pytest.mark.parametrize(
    "thing", [Heartbeat(job="train", node="train"), CreateScript(job="train"), StatusCode(job="train")]
)
def test_an_object_that_is_written_makes_it_looked_at(world, thing):
    """New, or in place of another."""
    world.store(thing, b"{}")
    assert next_tick(world) == {"train"}


def test_a_heartbeat_of_the_job_kit_makes_it_looked_at(world):
    """It is in no folder of the job, and says everything in its metadata."""
    kit_beat(world.cloud.store, "other", layout=world.layout, job="other", attempt=1)
    assert next_tick(world) == set()
    kit_beat(world.cloud.store, "train", layout=world.layout, job="train", attempt=1, step=7, status="0")
    assert next_tick(world) == {"train"}


def test_an_object_that_goes_makes_it_looked_at(world):
    """What is gone is not seen by its generation."""
    [entry] = world.cloud.store.entries(world.layout.build(Heartbeat(job="train", node="train")))
    world.cloud.store.delete(entry.name, generation=entry.generation)
    assert next_tick(world) == {"train"}


def test_a_marker_makes_it_looked_at_and_so_does_its_end(world):
    """The row tells of it, though nothing of the job's folder has changed."""
    generation = world.store(MarkerName(node="train"))
    assert next_tick(world) == {"train"}
    assert standing(world) is Standing.RECOVERING
    world.cloud.store.delete(world.layout.build(MarkerName(node="train")), generation=generation)
    assert next_tick(world) == {"train"}
    assert standing(world) is Standing.RUNNING


def test_a_job_that_is_opened_again_is_looked_at(world):
    """One that was over is not in the listing of those that are open."""
    world.end()
    next_tick(world)
    assert standing(world) is Standing.ENDED
    quiet(world)
    assert next_tick(world) == set()
    world.store(OpenJob(job="train"), b"{}")
    assert next_tick(world) == {"train"}


def test_a_summary_that_is_gone_is_made_anew_at_once(world):
    """Whether or not anything of its job has changed."""
    name = world.layout.build(ReportPart(path="jobs/train.json.gz"))
    [entry] = world.cloud.store.entries(name)
    world.cloud.store.delete(name, generation=entry.generation)
    assert next_tick(world) == {"train"}
    assert world.cloud.store.entries(name) != []


def test_many_open_jobs_are_listed_together():
    """One listing and no read, whatever their number; the one that changes is looked at."""
    world = ReportWorld(pages=False)
    names = [f"job-{number}" for number in range(MANY)]
    for name in names:
        world.job(name)
    world.tick()
    world.wait(seconds=FRESH.total_seconds())
    world.tick()
    world.wait(minutes=TICK_MINUTES)
    world.store(StatusCode(job="job-7"), b"0")
    cloud, asked = world.heard()
    world.tick(cloud)
    assert "job-7" in looked(asked)
    assert len(looked(asked)) < MANY / 2
    folders = {name for call, name in asked if call == "entries" and name.endswith("/metadata/")}
    assert folders == set()


def test_both_ways_of_listing_see_the_same():
    """With one job more than a few all folders are listed at once; those of the others have not changed."""
    world = ReportWorld(pages=False)
    for number in range(FEW):
        world.job(f"job-{number}")
    world.tick()
    known = {entry.row.job: entry.state for entry in world.index().entries}
    world.job("job-more")
    world.tick()
    assert len(set(known.values())) == FEW
    assert {entry.row.job: entry.state for entry in world.index().entries if entry.row.job in known} == known


def test_where_the_listing_of_all_folders_does_not_end_each_is_listed_by_itself(monkeypatch):
    """Any job VM may fill one of them: what the others' listings say stays the same."""
    world = ReportWorld(pages=False)
    for number in range(MANY):
        world.job(f"job-{number}")
    world.tick()
    known = {entry.row.job: (entry.state, entry.heard) for entry in world.index().entries}
    world.wait(minutes=TICK_MINUTES)
    monkeypatch.setattr(changes, "LISTED_AT_MOST", 2 * MANY)
    monkeypatch.setattr(folder_list, "ROWS_AT_MOST", MANY)
    for number in range(2 * MANY):
        world.store(LogFile(job="job-7", node=f"n{number}", attempt=1))
    cloud, asked = world.heard()
    world.tick(cloud)
    assert {name for call, name in asked if call == "entries" and name == "job-7/metadata/"}
    now = {entry.row.job: (entry.state, entry.heard) for entry in world.index().entries}
    assert {job for job in known if now[job] != known[job]} == {"job-7"}


def test_new_metadata_is_a_change_though_the_generation_stays():
    """A heartbeat says everything beside its content; its time tells that it has said more."""
    beat = Entry(name="a/metadata/heartbeat/a", generation=1, updated=NOW, size=0)
    later = Entry(name=beat.name, generation=1, updated=NOW + timedelta(minutes=5), size=0)
    before, after = (states([entry], "", {"a"})["a"] for entry in (beat, later))
    assert before != after


def test_a_job_is_not_taken_for_one_whose_name_begins_like_it():
    """Each by its own folder, below the prefix of the bucket."""
    rows = [Entry(name=f"users/{job}/metadata/x", generation=1, updated=NOW, size=0) for job in ("a", "ab")]
    assert states(rows, "users/", {"a"}) == states(rows[:1], "users/", {"a", "ab"})


def test_a_young_job_is_looked_at_each_tick():
    """Within an hour of its last change its figures grow with each tick, listing or not."""
    world = ReportWorld(pages=False)
    world.job(ago=HOUR)
    world.tick()
    assert [next_tick(world) for _ in range(3)] == [{"train"}] * 3
