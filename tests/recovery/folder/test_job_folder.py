"""What a job's own files tell a sweep: its wishes and how far it has come."""

import json
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import (
    AttemptRecord,
    CaseRecord,
    CreateScript,
    Heartbeat,
    InstanceId,
    JobFileName,
    Layout,
    LogFile,
    MetricsFile,
    StatusCode,
)
from spotwarden.model.case import Case, CaseState
from spotwarden.model.finding import Subject
from spotwarden.recovery.folder import folder_list
from spotwarden.recovery.folder.folder_list import look_into
from spotwarden.recovery.folder.job_folder import look_at_job
from spotwarden.recovery.folder.node_beats import JobBeats
from tests.fakes.beats import kit_beat

WHOLE = b"""
owner = "ann"
email = "ann@example.com"
max_restarts = 3
max_preemptions = 40
max_runtime = "2d"
budget = 12.5
price_per_hour = 0.5
work = "36h"
deadline = 2026-12-01T12:00:00Z
places = ["us-central1", "us-east1-b"]
on_demand_after = 4
handover = true
"""


@pytest.fixture
def said(world):
    """What a job is found to want after its file was stored."""

    def read(text):
        world.store(JobFileName(job="test-vm"), text)
        return look_at_job(world.cloud.store, world.layout, "test-vm").file

    return read


def test_a_file_that_has_not_changed_is_not_parsed_again(world, said):
    """Each sweep looks at each job; one that was written anew is."""
    first = said(b'owner = "ann"')
    assert look_at_job(world.cloud.store, world.layout, "test-vm").file is first
    assert said(b'owner = "bob"').owner == "bob"


def test_a_job_may_set_every_limit_of_its_own(said):
    """Durations as in the policy, a deadline with its zone of time."""
    file = said(WHOLE)
    assert (file.owner, file.max_restarts, file.max_preemptions) == ("ann", 3, 40)
    assert file.on_demand_after == 4
    assert (file.max_runtime, file.work) == (timedelta(days=2), timedelta(hours=36))
    assert file.deadline == datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert file.places == ("us-central1", "us-east1-b")
    assert file.handover
    assert file.problem == ""


def test_a_file_from_an_editor_on_windows_is_read(said):
    """It begins with a byte order mark, and its lines end with a carriage return."""
    file = said(b"\xef\xbb\xbfmax_restarts = 3\r\nbudget = 5\r\n")
    assert (file.problem, file.max_restarts, file.budget) == ("", 3, 5)


def test_a_job_without_a_file_sets_nothing(world):
    """The policy's limits hold."""
    file = look_at_job(world.cloud.store, world.layout, "test-vm").file
    assert file.max_restarts is None
    assert not file.handover


@pytest.mark.parametrize(
    "text",
    [
        b"max_restarts = ",
        b"max_restart = 3",
        b'max_restarts = "many"',
        b"max_restarts = -1",
        b"on_demand_after = -1",
        b"deadline = 2026-12-01T12:00:00",
        b'max_runtime = "two days"',
        b"\xff",
        b"#" * 1_100_000,
    ],
    ids=[
        "no TOML",
        "an unknown word",
        "no number",
        "less than none",
        "before the first",
        "no zone of time",
        "no duration",
        "no text",
        "too large",
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_sets_nothing(said, text):
    """None of it: half a file would be a guess."""
    file = said(text)
    assert "test-vm/metadata/job.toml: " in file.problem
    assert file.max_restarts is None


def progress(world):
    """How far the job is found to have come."""
    return look_at_job(world.cloud.store, world.layout, "test-vm").progress


def test_the_newest_heartbeat_tells_how_far_a_job_has_come(world):
    """Step, share and checkpoint; an older node's says nothing any more."""
    world.store(Heartbeat(job="test-vm", node="other"), b'{"step": 1, "steps": 100}')
    world.wait(minutes=1)
    world.store(
        Heartbeat(job="test-vm", node="test-vm"), b'{"step": 25, "steps": 100, "checkpoint": "output/ck-25"}'
    )
    found = progress(world)
    assert (found.share, found.checkpoint, found.at) == (0.25, "output/ck-25", world.cloud.clock.now())


def test_the_node_that_measures_tells_how_far_a_job_has_come(world):
    """All nodes of a gang send heartbeats, and often only one has figures; the newest may have none."""
    figures = b'{"step": 25, "steps": 100}'
    world.store(Heartbeat(job="test-vm", node="vm-1"), figures)
    world.store(MetricsFile(job="test-vm", node="vm-1", attempt=1), figures)
    world.wait(minutes=1)
    world.store(Heartbeat(job="test-vm", node="vm-2"), b"{}")
    assert progress(world).share == 0.25
    world.store(MetricsFile(job="test-vm", node="vm-2", attempt=2), figures)
    assert progress(world).share is None


def test_what_the_job_kit_says_tells_how_far_a_job_has_come(world):
    """Of the nodes that have registered their VMs; what says that it is another job's is not the job's."""
    store = world.cloud.store
    world.store(InstanceId(job="test-vm", node="vm-1"), b"11")
    for node, job, step in (("vm-1", "test-vm", 25), ("vm-2", "other", 75)):
        kit_beat(store, node, job=job, step=step, steps=100)
    facts = look_at_job(store, Layout(), "test-vm", beats=JobBeats(store, Layout()))
    assert facts.progress.share == 0.25


def test_that_a_heartbeat_came_is_no_progress(world):
    """It comes whatever the program does: whoever crashes at once has not moved by it."""
    now = world.cloud.clock.now()
    said = {"at": now.isoformat(), "progress_at": (now - timedelta(hours=3)).isoformat()}
    world.store(Heartbeat(job="test-vm", node="test-vm"), json.dumps(said).encode())
    assert progress(world).at == now - timedelta(hours=3)


@pytest.mark.parametrize(
    "body", [b"", b"not json", b'{"step": 5}', b'{"step": 5, "steps": 0}', b"[]", b"\xff"]
)
def test_a_heartbeat_that_says_nothing_still_tells_when(world, body):
    """Touched is alive; how far it is, nobody knows."""
    world.store(Heartbeat(job="test-vm", node="test-vm"), body)
    assert progress(world).share is None
    assert progress(world).at == world.cloud.clock.now()


def test_a_file_that_cannot_be_read_is_told_and_the_job_comes_back_all_the_same(world):
    """The policy's limits hold; the owner hears what is wrong, and where."""
    world.store(JobFileName(job="test-vm"), b"max_restarts = many\n")
    world.preempt()
    world.sweep_until_quiet()
    assert world.notices() == ["job_toml", "recovered"]
    assert len(world.vms()) == 1


EXTENDED = Case(
    rule="job_cap",
    subject=Subject(key="test-vm", job="test-vm"),
    state=CaseState.SUSPECTED,
    opened=datetime(2026, 1, 5, tzinfo=UTC),
    looked=datetime(2026, 1, 5, tzinfo=UTC),
    reason="it is at or near its limit",
    extended=4.0,
)


@pytest.mark.parametrize(
    ("limits", "case", "hours"),
    [
        (b'max_runtime = "1h"', msgspec.json.encode(EXTENDED), 4),
        (b"budget = 3.0", msgspec.json.encode(EXTENDED), 4),
        (b'max_runtime = "1h"', b"", 0),
        (b'max_runtime = "1h"', b"{", 0),
        (b'max_runtime = "1h"', msgspec.json.encode(replace(EXTENDED, extended=1e300)), 0),
        (b'owner = "ann"', msgspec.json.encode(EXTENDED), 0),
    ],
    ids=["its time", "its budget", "no case", "a broken case", "beyond all time", "no limit of its own"],
)
def test_what_its_owner_was_granted_counts_with_its_own_limits(world, limits, case, hours):
    """Against the warning about its limit; recovery asks only where there is one of its own."""
    world.store(JobFileName(job="test-vm"), limits)
    if case:
        world.store(CaseRecord(rule="job_cap", key="test-vm"), case)
    facts = look_at_job(world.cloud.store, world.layout, "test-vm")
    assert facts.granted == timedelta(hours=hours)


OWN = [
    AttemptRecord(job="test-vm", attempt=1),
    CreateScript(job="test-vm"),
    JobFileName(job="test-vm"),
    InstanceId(job="test-vm", node="a"),
    InstanceId(job="test-vm", node="test-vm"),
    InstanceId(job="test-vm", node="zz"),
    StatusCode(job="test-vm"),
]
"""What stands before, between and behind the folders that any job VM may fill."""


@pytest.mark.parametrize("more", [0, 1])
def test_a_crowd_of_logs_hides_none_of_a_jobs_records(world, monkeypatch, more):
    """Beyond the limit the first logs, metrics and heartbeats are listed, and everything else as ever."""
    monkeypatch.setattr(folder_list, "ROWS_AT_MOST", 40)
    monkeypatch.setattr(folder_list, "CROWD_AT_MOST", 5)
    for thing in OWN:
        world.store(thing, b"x")
    crowd = [
        Heartbeat(job="test-vm", node="a"),
        *(LogFile(job="test-vm", node=f"n{i}", attempt=1) for i in range(20)),
    ]
    crowd += [
        MetricsFile(job="test-vm", node=f"n{i}", attempt=1) for i in range(39 - len(OWN) - len(crowd) + more)
    ]
    for thing in crowd:
        world.store(thing, b"")
    folder = look_into(world.cloud.store, world.layout, "test-vm")
    assert set(OWN) <= set(folder.things)
    assert folder.whole is not bool(more)
    assert len(folder.things) == len(OWN) + (11 if more else len(crowd))
