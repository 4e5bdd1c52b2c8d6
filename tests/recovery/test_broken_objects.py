"""What anybody may have written into the bucket: it stops what it is about, and nothing else."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest

from spotwarden.layout import AttemptRecord, CaseRecord, JobFileName, OpenJob, SweepTurn
from spotwarden.model.governance import Remedy
from spotwarden.model.notice import Notice
from spotwarden.model.rule_limits import IdleLimits, JobCap
from spotwarden.model.watch import Watch
from tests.fakes.world import World, load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.governed import GovernedWorld
from tests.governance.made_up import RULE, MadeUp, Said
from tests.governance.reap.reap_world import ReapWorld

GRACE = timedelta(minutes=15)
NO_ZONE = b"2026-01-01T00:00:00"
BROKEN = [b"", b"{", b"[]", b"null", b"\xff", b'{"x": ' + b"[" * 100_000, b"[" + b" " * 5_000_000 + b"]"]
IDS = ["empty", "truncated", "a list", "null", "no text", "deep", "5 MB"]
broken = pytest.mark.parametrize("data", BROKEN, ids=IDS)


def told(world: GovernedWorld) -> str:
    """One sweep, and all that failed in it, in words."""

    def words(error: BaseException) -> Iterator[str]:
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from words(one)
        else:
            yield str(error)

    try:
        world.sweep()
    except ExceptionGroup as failed:
        return "; ".join(words(failed))
    return ""


def played(world: MadeUp) -> str:
    """A warning, its grace, and the sweep that may act; what failed, in words."""
    told(world)
    world.wait(seconds=GRACE.total_seconds())
    return told(world)


@pytest.fixture
def world() -> MadeUp:
    """A rule that stops VMs, a quarter of an hour after its warning."""
    return MadeUp(IdleLimits(remedy=Remedy.STOP, grace=GRACE))


@broken
def test_a_broken_case_is_told_and_only_its_own_vm_is_left_alone(world: MadeUp, data: bytes):
    """A veto may have stood in it; the other VM is warned and stopped as ever."""
    bad, good = (world.vm(name, said=Said(ripe=True)) for name in ("bad", "good"))
    world.store(CaseRecord(rule=RULE, key=bad), data)
    assert f"spotwarden/cases/idle/{bad}.json" in played(world)
    assert world.asked() == [("stop", good)]


def test_a_case_under_the_name_of_another_is_no_case(world: MadeUp):
    """Copied by hand: the VM that it is about is judged by its own record, the other is left alone."""
    bad, good = (world.vm(name, said=Said(ripe=True)) for name in ("bad", "good"))
    told(world)
    world.store(CaseRecord(rule=RULE, key=bad), msgspec.json.encode(world.case(RULE, good)))
    assert f"its content is of the case idle {good}" in played(world)
    assert world.asked() == [("stop", good)]


def test_a_moment_without_a_time_zone_breaks_only_its_case(world: MadeUp):
    """As people write them by hand: nobody knows which moment is meant."""
    bad, good = (world.vm(name, said=Said(ripe=True)) for name in ("bad", "good"))
    told(world)
    kept = msgspec.to_builtins(world.case(RULE, bad)) | {"keep_until": NO_ZONE.decode()}
    world.store(CaseRecord(rule=RULE, key=bad), msgspec.json.encode(kept))
    assert "timezone" in played(world)
    assert world.asked() == [("stop", good)]


@pytest.mark.parametrize(
    "data", [*BROKEN, b'{"swept": "%s", "steady": "%s"}' % (NO_ZONE, NO_ZONE)], ids=[*IDS, "no time zone"]
)
def test_a_broken_turn_is_nobodys(world: MadeUp, data: bytes):
    """It is written anew, and everything goes on."""
    vm = world.vm(said=Said(ripe=True))
    world.store(SweepTurn(function="flag_idle_gpus"), data)
    assert played(world) == ""
    assert world.asked() == [("stop", vm)]


@broken
def test_a_broken_turn_does_not_keep_recovery_from_its_work(world_of_recovery: World, data: bytes):
    """Nothing rests on a turn."""
    world_of_recovery.store(SweepTurn(function="recover_spot"), data)
    world_of_recovery.preempt()
    world_of_recovery.sweep_until_quiet()
    assert world_of_recovery.attempts()[-1].number == 2


@pytest.fixture
def world_of_recovery() -> World:
    """A job that has been running for ten minutes."""
    return World(load("recover_spot"))


OTHERS = msgspec.json.encode(Watch(job="test-vm", attempt=9, instances={"test-vm": "1"}))


@pytest.mark.parametrize("data", [*BROKEN, OTHERS], ids=[*IDS, "of another job"])
def test_a_broken_entry_of_the_open_jobs_stops_no_other_jobs_recovery(world_of_recovery: World, data: bytes):
    """The job itself is told of at every sweep."""
    world_of_recovery.store(OpenJob(job="bad"), data)
    world_of_recovery.preempt()
    for _ in range(30):
        swept = world_of_recovery.sweep()
        assert ["spotwarden/open/bad.json" in str(one) for one in swept.failures] == [True]
        world_of_recovery.wait(seconds=10)
    assert world_of_recovery.attempts()[-1].number == 2


@pytest.mark.parametrize("data", [*BROKEN, OTHERS], ids=[*IDS, "of another job"])
def test_a_broken_entry_of_the_open_jobs_makes_its_job_unknown(data: bytes):
    """Its VMs may stand in it: none of them is an orphan. Those of another job that is over are."""
    world = ReapWorld(load("reap_vms"))
    jobs = {job: world.job(job)[job] for job in ("bad", "good")}
    for job in jobs:
        world.end(job)
    world.store(OpenJob(job="bad"), data)
    world.sweep_for(minutes=60)
    assert world.asked() == [("delete", jobs["good"])]
    assert world.case("orphan", jobs["bad"]).state.value == "unknown"


CAPS = {"job_cap": JobCap(max_runtime=timedelta(hours=1))}


@pytest.mark.parametrize(
    "file",
    [
        "budget = nan",
        "price_per_hour = nan\nbudget = 1.0",
        "price_per_hour = inf\nbudget = 1.0",
        "budget = -1.0",
        "x = " + "[" * 100_000,
    ],
    ids=["budget", "price", "endless", "negative", "deep"],
)
def test_a_job_file_of_nonsense_keeps_its_job_and_no_other(file: str):
    """What cannot be followed exempts whoever wrote it; the next job meets its cap."""
    world = CapWorld(load("cap_runtime"), **CAPS)
    bad, good = world.job("bad", file=file), world.job("good")
    world.sweep_for(minutes=80)
    assert world.asked() == [("stop", good)]
    assert world.status(bad) == "RUNNING"


@pytest.mark.parametrize("field", ["created", "started"])
def test_a_ledger_without_time_zones_keeps_its_job_and_no_other(field: str):
    """What is on record of the job cannot be read: nobody knows how long it has been up."""
    world = CapWorld(load("cap_runtime"), **CAPS)
    bad, good = world.job("bad"), world.job("good")
    name = AttemptRecord(job="bad", attempt=1)
    record = msgspec.json.decode(world.cloud.store.read(world.layout.build(name)).data)
    world.store(name, msgspec.json.encode(record | {field: NO_ZONE.decode()}))
    world.sweep_for(minutes=80)
    assert world.asked() == [("stop", good)]
    assert world.status(bad) == "RUNNING"


@broken
def test_broken_records_of_a_job_stop_no_other(data: bytes):
    """Its ledger, its file: the other job's cap holds."""
    world = CapWorld(load("cap_runtime"), **CAPS)
    bad, good = world.job("bad"), world.job("good")
    world.store(AttemptRecord(job="bad", attempt=1), data)
    world.store(JobFileName(job="bad"), data)
    world.sweep_for(minutes=80)
    assert world.asked() == [("stop", good)]
    assert world.status(bad) == "RUNNING"


def test_of_a_job_whose_folder_was_deleted_while_it_ran_its_owner_reads_what_happened(
    world_of_recovery: World,
):
    """It is not brought back, for nothing of its launch is known; nobody says that it was never launched."""
    world = world_of_recovery
    world.settle()
    for entry in world.cloud.store.entries("test-vm/"):
        world.cloud.store.delete(entry.name, generation=entry.generation)
    world.cloud.compute.preempt("test-vm")
    world.settle(20)
    assert world.vms() == []
    [told] = [msgspec.json.decode(message.data, type=Notice) for message in world.cloud.notices.messages]
    assert "records of attempt 1 are no longer in the bucket" in told.why
    assert (told.todo, told.ways) == ("submit the job again: its create script is gone as well", ())
    [closed] = world.records()
    assert closed.replaces == {"test-vm": world.first}
