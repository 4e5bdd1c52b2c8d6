"""What was last seen of a job's nodes, on its page and in its JSON: the rows that governance reads."""

import msgspec
import pytest

from spotwarden.layout import Heartbeat, StatusCode
from tests.fakes.beats import kit_beat
from tests.report.report_world import HOUR, MINUTE, ReportWorld


@pytest.fixture
def world():
    """A job whose second attempt runs; of the first one the heartbeat of another node is left."""
    world = ReportWorld(pages=False)
    first = world.job(ago=5 * HOUR)
    beat(world, node="train-old", instance_id="11", attempt=1)
    world.wait(hours=3)
    world.again(first, lost=world.now - 3 * HOUR, started=world.now - 2 * HOUR)
    return world


def beat(world, node="train", **said):
    """The job kit writes a heartbeat."""
    at = {"at": world.now, "progress_at": world.now - 10 * MINUTE}
    world.store(Heartbeat(job="train", node=node), msgspec.json.encode({**at, **said}))


def signals(world):
    """The rows of the job's JSON: which node in which attempt, what, and its value."""
    world.tick()
    rows = world.json("/jobs/train.json")["signals"]
    return {(row["attempt"], row["node"], row["kind"], row["source"]): row for row in rows}


def test_a_page_has_a_row_for_each_signal(world):
    """Its newest heartbeat is of attempt 2; its program last got on ten minutes before."""
    beat(world, instance_id="22", attempt=2, step=12, checkpoint="c-12")
    rows = signals(world)
    assert rows[2, "train", "alive", "heartbeat"]["at"] == f"{world.now:%Y-%m-%dT%H:%M:%SZ}"
    moved = rows[2, "train", "progress", "progress in a heartbeat"]["at"]
    assert moved == f"{world.now - 10 * MINUTE:%Y-%m-%dT%H:%M:%SZ}"
    assert rows[2, "train", "progress", "step"]["value"] == "12"
    assert rows[2, "train", "progress", "checkpoint"]["value"] == "c-12"
    assert (0, "train-old", "alive", "heartbeat") in rows
    page = world.get("/jobs/train").get_data(as_text=True)
    assert '<h2 id="signals">' in page
    assert "c-12" in page


def test_a_job_of_which_nothing_was_seen_has_no_table(world):
    """And nothing is made up."""
    world.cloud.store.delete("train/metadata/heartbeat/train-old", generation=_generation(world))
    assert signals(world) == {}
    assert '<h2 id="signals">' not in world.get("/jobs/train").get_data(as_text=True)


def test_the_end_is_a_signal_of_the_job(world):
    """By its status."""
    world.store(StatusCode(job="train"), b"0\n")
    assert signals(world)[2, None, "ended", "status code"]["value"] == "0"


@pytest.mark.parametrize(("said", "ends"), [("1", False), ("2", True)])
def test_a_late_status_is_of_its_own_attempt(world, said, ends):
    """The job goes on, and the page says who has ended."""
    world.cloud.store.put("train/metadata/status-code", b"0\n", {"attempt": said, "instance_id": "11"})
    assert signals(world)[int(said), None, "ended", "status code"]["value"] == "0"
    assert (world.json("/jobs/train.json")["job"]["status"] == "ended") is ends


def test_what_the_job_kit_says_is_shown_without_a_read(world):
    """One list has it."""
    kit_beat(world.cloud.store, "train", job="train", at=world.now, instance_id="22", attempt=2, step=12)
    assert signals(world)[2, "train", "progress", "step"]["value"] == "12"


def test_a_checkpoint_with_a_long_name_does_not_fill_the_summary(world):
    """Every VM of a job may write its heartbeats."""
    beat(world, instance_id="22", attempt=2, checkpoint="x" * 100_000)
    assert len(signals(world)[2, "train", "progress", "checkpoint"]["value"]) == 200


def _generation(world):
    [entry] = world.cloud.store.entries("train/metadata/heartbeat/train-old")
    return entry.generation
