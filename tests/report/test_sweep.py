"""`report_jobs`' tick: what is new is read, written once, and the same however it came about."""

import contextlib
import gzip
import json
from datetime import timedelta
from functools import partial

import msgspec
import pytest

from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.layout import AttemptRecord, Code, MarkerName, ReportPart, StatusCode, SweepRecord, SweepTurn
from spotwarden.model.fleet import Machine
from spotwarden.model.instance import Status
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from spotwarden.model.seen import RecordedSweep
from spotwarden.model.standing import Standing
from spotwarden.model.tick import Tick
from spotwarden.ports import UnansweredError
from spotwarden.report import news
from spotwarden.report.model.kept import ReportIndex
from tests.fakes.trouble import conflict, unanswered
from tests.recovery.test_exactly_once import KilledError, die, watched
from tests.report.report_world import HOUR, MINUTE, ZONE, ReportWorld

MOST_CALLS = 200
DELETED = {
    "function": "reap_vms",
    "sweep": "s",
    "policy": "v1",
    "action": "DeleteInstance",
    "why": "its job has ended",
    "detail": {"type": "DeleteInstance", "job": "train", "node": "train", "zone": ZONE, "instance_id": "11"},
    "outcome": {"type": "Done"},
}


@pytest.fixture
def world():
    """An empty bucket, on a Wednesday at noon; its report has no pages, which take the most time."""
    return ReportWorld(pages=False)


def full(world):
    """A job with everything: it was preempted, beats, is metered, measured, audited, and marked."""
    first = world.job(ago=3 * HOUR)
    world.again(first, lost=world.now - 2 * HOUR, started=world.now - 115 * MINUTE)
    world.beats({"at": world.now - 170 * MINUTE, "checkpoint": "a", "metrics": {"loss": 1}})
    world.metered(
        world.now.date(), ("train", "11", world.now - 3 * HOUR, 3_600), ("", "99", world.now - HOUR, 60)
    )
    world.audit("115500-reap_vms-s-0001", {**DELETED, "at": world.now - 5 * MINUTE})
    swept(world, {"22": (0.0, 50.0)})
    return world


def swept(world, loads, jobs=None):
    """A sweep of flag_idle_gpus that saw these two newest buckets."""
    grid = Buckets(end=world.now.replace(second=0), step=10 * MINUTE, count=2)
    machines = tuple(Machine(id=one, name=one, zone=ZONE, status=Status.RUNNING, gpus=1) for one in loads)
    facts = IdleFacts(
        machines=machines,
        jobs=jobs or dict.fromkeys(loads, "train"),
        loads=GpuLoads(grid=grid, rows={one: VmLoad(top=top) for one, top in loads.items()}),
    )
    tick = Tick(function="flag_idle_gpus", sweep="s", now=world.now)
    seen = RecordedSweep(tick=tick, policy="v1", steady=world.now, facts=facts)
    thing = SweepRecord(function="flag_idle_gpus", day=world.now.date(), entry=f"{world.now:%H%M%S}-s")
    world.store(thing, gzip.compress(msgspec.json.encode(seen)))


def row(world, job="train"):
    """A job's row in the index."""
    return next(one.row for one in world.index().entries if one.row.job == job)


def said(world):
    """What the report says, without when it was made, and as which generation."""
    index = msgspec.to_builtins(world.index())
    for entry in index["entries"]:
        entry |= {"looked": "", "changed": "", "kept": 0}
    kept = {name: data for name, data in world.report().items() if name.startswith(("jobs/", "days/"))}
    parts = {name: json.loads(gzip.decompress(data)) for name, data in kept.items()}
    for part in parts.values():
        if "entry" in part:
            part["entry"] = part["entry"]["digest"]
    return {**index, "at": "", "turn": 0}, parts


# --- what a tick makes ---


def test_an_empty_bucket_has_an_empty_report(world):
    """Its pages say so."""
    world.pages = True
    world.tick()
    assert world.index().entries == ()
    assert b"No jobs" in world.part("site/index.html")


def test_every_job_has_a_row(world):
    """One whose folder holds nothing but code, one with a broken ledger, one with everything."""
    world.store(Code(job="bare"), b"tar")
    world.job("broken")
    world.store(AttemptRecord(job="broken", attempt=1), b"{")
    full(world).tick()
    assert {one.row.job for one in world.index().entries} == {"", "bare", "broken", "train"}
    assert row(world, "bare").standing is Standing.UNKNOWN
    assert "attempts/1.json" in row(world, "broken").problem
    assert row(world).preemptions == 1


def test_what_is_no_job_has_no_row(world):
    """Nor has what no job can be called."""
    for name in ("spotwarden/x", "preempted-jobs/x", "Not_A_Job/metadata/status-code"):
        world.cloud.store.write(name, b"", generation=None)
    world.tick()
    assert world.index().entries == ()


def test_vms_of_nobodys_job_count_in_the_fleet(world):
    """They have no row, and their time is there."""
    full(world).tick()
    rows = world.json("/fleet.json")["tables"]["job"]
    assert {one["key"]: one["vm_hours"]["used"] for one in rows}[None] == pytest.approx(60 / 3_600, abs=1e-6)
    assert [one["job"] for one in world.json("/index.json")["jobs"]] == ["train"]


def test_idle_slots_come_from_the_sweeps_over_gpus(world):
    """The VM was at 0 percent for ten minutes, then at 50."""
    full(world).tick()
    assert world.json("/fleet.json")["total"]["gpu_hours"]["idle"] == pytest.approx(1 / 6, abs=1e-6)
    assert [one["percent"] for one in world.json("/jobs/train.json")["loads"]] == [[0.0, 50.0]]


def test_a_newer_sweep_may_know_better(world):
    """A slot that was quiet was not idle if any look saw it busy, and one look is read once."""
    full(world).tick()
    world.wait(minutes=10)
    swept(world, {"22": (50.0, 0.0)})
    world.tick()
    assert [one["percent"] for one in world.json("/jobs/train.json")["loads"]] == [[0.0, 50.0, 0.0]]


def test_a_marker_makes_a_job_recovering(world):
    """Before the ledger knows."""
    world.job()
    world.store(MarkerName(node="train"))
    world.tick()
    assert row(world).standing is Standing.RECOVERING


def test_a_job_that_ends_is_seen_to_end(world):
    """At the next tick; its figures stay as they are then."""
    world.job()
    world.tick()
    world.end()
    world.wait(minutes=10)
    world.tick()
    assert row(world).standing is Standing.ENDED
    used = world.json("/fleet.json")["total"]["vm_hours"]["used"]
    world.wait(hours=1)
    world.tick()
    assert world.json("/fleet.json")["total"]["vm_hours"]["used"] == used


def test_a_job_whose_folder_is_gone_keeps_its_figures(world):
    """What it has cost, it has cost."""
    full(world).tick()
    for name in [entry.name for entry in world.cloud.store.entries("train/")]:
        world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.wait(minutes=10)
    world.tick()
    assert row(world).problem == "its folder is gone from the bucket"
    assert world.json("/fleet.json")["total"]["preemptions"] == 1


# --- cheap ---


def test_a_job_that_is_over_is_not_looked_at_each_time(world):
    """Once it has been seen to its end it is read once a day."""
    world.job()
    world.end()
    world.tick()
    cloud, asked = world.heard()
    for _ in range(144):
        world.wait(minutes=10)
        world.tick(cloud)
    looks = [what for what in asked if what == ("entries", "train/metadata/")]
    assert len(looks) == 1


def test_a_change_behind_our_back_is_seen_within_a_day(world):
    """Somebody takes the status of a closed job away."""
    world.job()
    world.end()
    world.tick()
    name = world.layout.build(StatusCode(job="train"))
    world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    for _ in range(144):
        world.wait(minutes=10)
        world.tick()
    assert row(world).standing is Standing.RUNNING


def test_a_view_takes_a_constant_number_of_reads(world):
    """One for all jobs, two for one of them: whatever their number."""
    for number in range(30):
        world.job(f"job-{number}")
    world.tick()
    for path, reads in (
        ("/", 1),
        ("/fleet", 1),
        ("/jobs/job-7", 2),
        ("/trust?about=job-7", 2),
        ("/trust", 8),
    ):
        cloud, asked = world.heard()
        assert world.get(path, cloud=cloud).status_code == 200
        assert len(asked) == reads, path


# --- once, whatever happens ---


def test_a_second_tick_writes_no_summary_again(world):
    """Nothing has changed: the objects are the very same."""
    full(world).tick()
    world.tick()
    name = world.layout.build(ReportPart(path="jobs/train.json.gz"))
    before = world.cloud.store.read(name).generation
    world.wait(minutes=10)
    world.tick()
    assert world.cloud.store.read(name).generation == before


def test_a_report_that_is_deleted_is_made_anew(world):
    """It is derived, all of it."""
    full(world).tick()
    before = said(world)
    for entry in world.cloud.store.entries(world.layout.report()):
        world.cloud.store.delete(entry.name, generation=entry.generation)
    world.tick()
    assert said(world) == before


@pytest.mark.parametrize("path", ["jobs/train.json.gz", "index.json.gz", "days/2026-11-18.json.gz"])
@pytest.mark.parametrize("data", [b"", b"\x1f\x8b broken", gzip.compress(b'{"edition": 99}')])
def test_a_part_that_cannot_be_read_is_made_anew(world, path, data):
    """Two ticks later all is as it was: what one job had gathered is gathered again."""
    full(world).tick()
    before = said(world)
    world.store(ReportPart(path=path), data)
    world.tick()
    world.tick()
    assert said(world) == before


@pytest.mark.parametrize("after_work", [False, True])
def test_a_tick_that_is_killed_at_any_call_loses_nothing(after_work):
    """The next one brings the report to where it would be."""
    straight = full(ReportWorld(pages=False))
    straight.wait(minutes=1)
    straight.tick()
    wanted = said(straight)
    for calls in range(1, MOST_CALLS):
        world = full(ReportWorld(pages=False))
        cloud, left = watched(world.cloud.ports(), calls, die, after_work=after_work)
        with contextlib.suppress(KilledError):
            world.tick(cloud)
        if left[0] > 0:
            return
        world.wait(minutes=1)
        world.tick()
        assert said(world) == wanted, calls
    pytest.fail("it never came to its end")


def test_another_tick_in_the_midst_of_one_changes_nothing():
    """At whichever call it comes, its turn long over: what one has written the other does not write over."""
    straight = full(ReportWorld(pages=False))
    straight.tick()
    wanted = said(straight)
    for calls in range(1, MOST_CALLS, 3):
        world = full(ReportWorld(pages=False))
        cloud, left = watched(world.cloud.ports(), calls, partial(barge_in, world), after_work=False)
        world.tick(cloud)
        if left[0] > 0:
            return
        world.tick()
        assert said(world) == wanted, calls
    pytest.fail("it never came to its end")


def barge_in(world):
    """A whole tick by somebody who takes the turn for over."""
    name = world.layout.build(SweepTurn(function="report_jobs"))
    if stored := world.cloud.store.read(name):
        world.cloud.store.delete(name, generation=stored.generation)
    world.tick()


@pytest.mark.parametrize("after_work", [False, True])
@pytest.mark.parametrize("about", ["jobs/train", "index.json", "days/"])
def test_an_answer_that_is_lost_is_made_up_for(world, about, after_work):
    """Whether or not it was written."""
    wanted = full(ReportWorld(pages=False))
    wanted.wait(minutes=1)
    wanted.tick()
    full(world).cloud.store.trouble.order("write", unanswered(after_work=after_work), about=f"report/{about}")
    with pytest.raises((ExceptionGroup, UnansweredError)):
        world.tick()
    world.wait(minutes=1)
    world.tick()
    world.tick()
    assert said(world) == said(wanted)


def test_a_tick_that_another_overtook_writes_no_index(world):
    """It has read what is old by now."""
    full(world).cloud.store.trouble.order("write", conflict(), about="report/jobs/train")
    swept_ = world.tick()
    assert swept_.waiting == ("another tick makes the report",)
    assert world.part("index.json.gz") == b""


def test_one_bad_job_never_stops_the_others(world):
    """Its row stays as it was, and how far news was taken in is not written down."""
    full(world)
    world.job("other")
    world.cloud.store.trouble.order("read", unanswered(after_work=False), about="^train/", times=99)
    with pytest.raises(ExceptionGroup):
        world.tick()
    assert {one.row.job for one in world.index().entries} == {"", "other"}
    assert world.index().metered == {}
    world.cloud.store.trouble.calm()
    world.tick()
    assert row(world).preemptions == 1


def test_other_days_make_all_figures_anew(world):
    """A policy with another time zone: a job that is over is counted by it as well."""
    world.job(ago=13 * HOUR)
    world.end()
    world.tick()
    world.policy = msgspec.structs.replace(world.policy, notify=NotifyLimits(timezone="America/Los_Angeles"))
    world.wait(minutes=10)
    world.tick()
    days = {str(cell.day) for entry in world.index().entries for cell in entry.cells}
    assert days == {"2026-11-17", "2026-11-18"}


# --- the audit ---


def test_a_late_record_of_the_audit_is_taken_in(world):
    """A sweep writes under the time at which it began: its record may sort before others that are known."""
    full(world).tick()
    world.audit("000100-reap_vms-s-0001", {**DELETED, "at": world.now - 12 * HOUR, "why": "late"})
    world.wait(minutes=10)
    world.tick()
    assert world.json("/trust.json?text=late")["found"] == 1


def test_a_day_of_the_audit_is_read_until_two_hours_after_its_end(world):
    """Then it is whole."""
    full(world).tick()
    world.wait(hours=13, minutes=59)
    world.tick()
    assert world.now.date() - timedelta(days=1) not in world.index().audited
    world.wait(minutes=1)
    world.tick()
    assert world.now.date() - timedelta(days=1) in world.index().audited


def test_many_records_are_taken_in_bit_by_bit(world, monkeypatch):
    """A report that is made anew does not take all at once."""
    monkeypatch.setattr(news, "OBJECTS", 2)
    for number in range(5):
        world.audit(f"10000{number}-reap_vms-s-0001", {**DELETED, "at": world.now})
    found = []
    for _ in range(3):
        world.tick()
        found.append(world.json("/trust.json")["found"])
    assert found == [2, 4, 5]


def test_a_record_that_cannot_be_read_stops_nothing(world):
    """It is known, and says nothing."""
    full(world).store(ReportPart(path="x"))
    world.cloud.store.write("spotwarden/audit/2026-11-18/110000-x-s-0001.json", b"[{]", generation=None)
    world.tick()
    assert world.json("/trust.json")["found"] == 1


def test_why_was_a_vm_of_a_slice_deleted(world):
    """The whole slice was, as the audit has it."""
    world.job(ago=3 * HOUR)
    vms = [{"id": "11", "name": "train", "zone": ZONE}, {"id": "12", "name": "train-1", "zone": ZONE}]
    detail = {"type": "DeleteGroup", "job": "train", "zone": ZONE, "group": "train-1-1", "targets": vms}
    entry = {**DELETED, "action": "DeleteGroup", "detail": detail, "at": world.now - 5 * MINUTE}
    world.audit("115500-reap_vms-s-0001", entry)
    world.tick()
    for asked in ("12", "train"):
        answer = world.json(f"/trust.json?about={asked}")["answer"]
        assert answer.startswith("The TPU slice of train, train-1 (11, 12) was deleted by Spotwarden")


def test_why_was_my_vm_deleted(world):
    """By its id, by its name, or by its job: one question, one sentence."""
    full(world).tick()
    for asked in ("11", "train"):
        answer = world.json(f"/trust.json?about={asked}")
        assert answer["answer"].startswith("train (11) was deleted by Spotwarden (reap_vms by policy v1)")
    assert "is still running" in world.json("/trust.json?about=22")["answer"]
    assert world.json("/trust.json?about=nobody")["answer"] in (None, "")


def test_the_index_is_of_one_edition():
    """What another has written is not decoded by chance."""
    assert ReportIndex.__struct_fields__[0] == "edition"
