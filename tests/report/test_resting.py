"""A job with the kit that goes on as it did costs nothing within an hour, and nothing of it is lost."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.governance.signals.folders import BEATS
from spotwarden.layout import CreateScript, LogFile, MarkerName, StatusCode
from spotwarden.report.store import ReportStore
from tests.fakes.beats import kit_beat
from tests.report.report_world import MINUTE, ReportWorld
from tests.report.test_changes import looked

TODAY = "2026-11-18"
HOUR = 3_600


@pytest.fixture
def world():
    """A job that trains, looked at with the first tick of an hour."""
    made = ReportWorld(pages=False)
    made.began = made.now - timedelta(hours=1)
    made.job()
    minutes(made)
    made.tick()
    return made


def minutes(world, **said):
    """What is new of a job at every tick: its VM has run a while longer, and its heartbeat."""
    beat(world, **said)
    since = max(world.began, world.now.replace(hour=0, minute=0))
    seconds = int((world.now - since).total_seconds())
    world.metered(world.now.date(), ("train", "11", world.began, seconds))


def beat(world, **said):
    """The job kit writes a heartbeat."""
    told = {"job": "train", "attempt": 1, "instance_id": "11", "at": world.now, "progress_at": world.now}
    kit_beat(world.cloud.store, "train", layout=world.layout, **told, **said)


def next_tick(world):
    """The jobs that the next tick looks at; every call of it is in `world.asked`."""
    cloud, world.asked = world.heard()
    world.tick(cloud)
    return looked(world.asked)


def row(world):
    """The job's row of the table."""
    [found] = [job for job in world.json("/index.json")["jobs"] if job["job"] == "train"]
    return found


def test_what_its_heartbeat_says_is_in_its_row_though_nothing_of_it_is_read(world):
    """Nor is anything of it written."""
    world.wait(minutes=10)
    minutes(world, step=7, metrics={"loss": 0.5})
    assert next_tick(world) == set()
    assert row(world)["progress"]["step"] == 7
    assert [metric["last"] for metric in row(world)["metrics"]] == [0.5]
    assert "read" not in {call for call, name in world.asked if name.startswith("train")}
    assert [name for call, name in world.asked if call == "write" and "train" in name] == []


def test_a_metric_keeps_its_best_value(world):
    """Of all that was heard, not of the last alone."""
    for loss in (0.5, 0.25, 0.75):
        world.wait(minutes=10)
        beat(world, metrics={"loss": loss})
        assert next_tick(world) == set()
    [metric] = row(world)["metrics"]
    assert (metric["last"], metric["best"]) == (0.75, 0.25)


def test_the_page_of_a_job_shows_when_it_was_last_heard_of(world):
    """By the list of heartbeats, not by its summary."""
    world.wait(minutes=10)
    beat(world, step=8)
    next_tick(world)
    signals = {(one["kind"], one["source"]): one for one in world.json("/jobs/train.json")["signals"]}
    assert signals["alive", "heartbeat"]["at"] == f"{world.now:%Y-%m-%dT%H:%M:%SZ}"
    assert signals["progress", "step"]["value"] == "8"


@pytest.mark.parametrize(
    "said",
    [{"status": "0"}, {"status": "stopped"}, {"attempt": 2}, {"job": "other"}],
)
def test_a_heartbeat_that_does_not_say_that_it_runs_has_it_looked_at(world, said):
    """It has ended, or is another attempt's."""
    world.wait(minutes=10)
    told = {"job": "train", "attempt": 1, "instance_id": "11", "at": world.now, **said}
    kit_beat(world.cloud.store, "train", layout=world.layout, **told)
    assert next_tick(world) == {"train"}


def test_what_its_program_prints_and_measures_waits_for_the_hour(world):
    """The metrics of its heartbeat do not; its curves are drawn then."""
    world.wait(minutes=10)
    beat(world, metrics={"loss": 0.5})
    world.store(LogFile(job="train", node="train", attempt=1), b"epoch 1")
    world.beats({"at": world.now, "step": 1, "metrics": {"loss": 0.5}})
    assert next_tick(world) == set()
    assert [metric["last"] for metric in row(world)["metrics"]] == [0.5]
    assert world.json("/jobs/train.json")["curves"] == []
    world.wait(minutes=50)
    beat(world)
    assert next_tick(world) == {"train"}
    assert len(world.json("/jobs/train.json")["curves"]) == 1


def test_one_that_has_fallen_silent_is_looked_at(world):
    """A heartbeat speaks for its VM so long, and not a minute longer."""
    world.wait(seconds=(BEATS - MINUTE).total_seconds())
    assert next_tick(world) == set()
    world.wait(minutes=1)
    assert next_tick(world) == {"train"}


@pytest.mark.parametrize(
    "thing", [CreateScript(job="train"), StatusCode(job="train"), MarkerName(node="train")]
)
def test_one_of_which_anything_else_changes_is_looked_at(world, thing):
    """Its heartbeat says nothing of that."""
    world.wait(minutes=10)
    beat(world)
    world.store(thing, b"0")
    assert next_tick(world) == {"train"}


def test_every_node_of_a_gang_has_to_speak(world):
    """One of two that is silent may be gone."""
    world.attempt(replace(world.job("pair"), instances={"pair": "1", "pair-1": "2"}))
    told = {"job": "pair", "attempt": 1, "at": world.now}
    kit_beat(world.cloud.store, "pair", layout=world.layout, **told)
    next_tick(world)
    world.wait(minutes=10)
    beat(world)
    kit_beat(world.cloud.store, "pair", layout=world.layout, **told)
    assert next_tick(world) == {"pair"}
    kit_beat(world.cloud.store, "pair-1", layout=world.layout, **told)
    next_tick(world)
    assert next_tick(world) == set()


def counted(world):
    """The seconds of the job's VM by day, as they were taken in of the meter."""
    summary, _ = ReportStore(world.cloud.store, world.layout).summary("train")
    [days] = summary.gathered.metered["11"].runs.values()
    return dict(days)


def test_the_meter_is_taken_in_with_the_next_hour(world):
    """All of it, in the first tick of that."""
    for _ in range(5):
        world.wait(minutes=10)
        minutes(world)
        assert next_tick(world) == set()
    assert counted(world) == {TODAY: HOUR}
    world.wait(minutes=10)
    minutes(world)
    assert next_tick(world) == {"train"}
    assert counted(world) == {TODAY: 2 * HOUR}


def test_the_meter_of_a_job_that_ends_is_taken_in_at_once(world):
    """What waited, too, though the meter says nothing more."""
    world.wait(minutes=10)
    minutes(world)
    assert next_tick(world) == set()
    world.wait(minutes=1)
    world.end()
    assert next_tick(world) == {"train"}
    assert counted(world) == {TODAY: HOUR + 600}


def test_what_waits_at_midnight_is_not_lost(world):
    """The last of a day is taken in with the first tick of the next one, though nobody writes it anew."""
    world.wait(hours=11)
    minutes(world)
    next_tick(world)
    world.wait(minutes=50)
    minutes(world)
    assert next_tick(world) == set()
    assert counted(world) == {TODAY: 12 * HOUR}
    world.wait(minutes=11)
    beat(world)
    assert next_tick(world) == {"train"}
    assert counted(world) == {TODAY: 12 * HOUR + 3_000}


def test_what_a_new_day_begins_with_waits_as_well(world):
    """Its first record comes when the job was looked at a while ago."""
    world.wait(hours=12)
    beat(world)
    next_tick(world)
    for _ in range(2):
        world.wait(minutes=10)
        minutes(world)
        assert next_tick(world) == set()
    world.wait(minutes=40)
    beat(world)
    assert next_tick(world) == {"train"}
    assert counted(world)["2026-11-19"] == 1_200
